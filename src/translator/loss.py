"""Cross-entropy with label smoothing, as sums: whoever adds several batches divides once, by all
their tokens.
"""

from typing import Any, Final, NamedTuple

import torch
from torch import Tensor

CHUNK: Final = 512
"""Rows whose logits `projected_loss_sums` holds at once in float32."""


class LossSums(NamedTuple):
    """Sums over the real target tokens of a batch; divide by `n_tokens` for means in nats per
    token.
    """

    loss: Tensor  # () smoothed, what training minimises
    nll: Tensor  # () unsmoothed, what validation reports
    n_tokens: int


def loss_sums(logits: Tensor, labels: Tensor, label_smoothing: float = 0.0) -> LossSums:
    """Compares the logits at real positions with their labels.  (N, V), (N,) int64 -> sums

    Smoothing gives the label 1 - ε of the probability mass and spreads ε evenly over the whole
    vocabulary, special tokens included (Szegedy et al., 2016). N may be 0: every sum is then 0.

    Raises:
        ValueError: other shapes. Of a batch take `logits[batch.real]` and `tgt_out[batch.real]`.
    """
    _check(logits, labels)
    log_probs = _at_least_float32(logits).log_softmax(dim=-1)  # (N, V)
    nll = -log_probs.gather(1, labels[:, None]).sum()
    loss = nll
    if label_smoothing:
        loss = (1 - label_smoothing) * nll - label_smoothing * log_probs.mean(dim=-1).sum()
    return LossSums(loss, nll.detach(), labels.numel())


def projected_loss_sums(
    hidden: Tensor, table: Tensor, labels: Tensor, label_smoothing: float = 0.0
) -> LossSums:
    """`loss_sums(hidden @ table.T, …)`, in one pass over chunks of rows.

    The gradient of a cross-entropy costs nothing extra: it is the predicted probability minus the
    wanted one. So each chunk of rows is projected, compared and turned into its gradient
    while the processor still has it at hand. On a CPU this takes a third less time.

    Args:
        hidden: (N, D), in the number format in which the products are to be computed
        table: (V, D), the same
        labels: (N,) int64

    Raises:
        ValueError: other shapes
    """
    _check(hidden, labels)
    if not torch.is_grad_enabled():  # which `needs_input_grad` below does not ask
        hidden, table = hidden.detach(), table.detach()
    loss, nll = _ProjectedLoss.apply(hidden, table, labels, label_smoothing)  # type: ignore[no-untyped-call]
    return LossSums(loss, nll.detach(), labels.numel())


def _check(rows: Tensor, labels: Tensor) -> None:
    if rows.dim() != 2 or labels.shape != rows.shape[:1]:
        raise ValueError(
            f"expected (N, …) and (N,), got {tuple(rows.shape)} and {tuple(labels.shape)}"
        )


def _at_least_float32(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


class _ProjectedLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, table: Tensor, labels: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        wants_gradient = any(ctx.needs_input_grad)
        loss = _at_least_float32(hidden.new_zeros(()))
        nll = torch.zeros_like(loss)
        logits_grad = hidden.new_empty(len(hidden) if wants_gradient else 0, len(table))  # (N, V)
        for start in range(0, len(hidden), CHUNK):
            rows = slice(start, start + CHUNK)
            own = labels[rows, None]  # (chunk, 1)
            logits = _at_least_float32(hidden[rows] @ table.T)
            log_probs = logits.log_softmax(dim=-1)  # (chunk, V)
            own_nll = -log_probs.gather(1, own).sum()
            nll += own_nll
            loss += (1 - smoothing) * own_nll - smoothing * log_probs.mean(dim=-1).sum()
            if wants_gradient:
                grad = log_probs.exp_().sub_(smoothing / len(table))
                grad.scatter_add_(1, own, grad.new_full(own.shape, smoothing - 1))
                logits_grad[rows] = grad
        ctx.save_for_backward(hidden, table, logits_grad)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, loss_grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        hidden, table, logits_grad = ctx.saved_tensors
        scale = loss_grad.to(hidden.dtype)
        return (logits_grad @ table) * scale, (logits_grad.T @ hidden) * scale, None, None
