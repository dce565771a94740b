"""Cross-entropy with label smoothing, as sums: whoever adds several batches divides once, by all
their tokens.
"""

from typing import Any, Final, NamedTuple

import torch
from torch import Tensor

CHUNK: Final = 256
"""Rows whose logits are held at once by the fast path; so many stay in the processor's cache."""


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
    """
    log_probs = logits.float().log_softmax(dim=-1)  # (N, V)
    nll = -log_probs.gather(1, labels[:, None]).sum()
    loss = nll
    if label_smoothing:
        loss = (1 - label_smoothing) * nll - label_smoothing * log_probs.mean(dim=-1).sum()
    return LossSums(loss, nll.detach(), labels.numel())


def projected_loss_sums(
    hidden: Tensor, table: Tensor, labels: Tensor, label_smoothing: float = 0.0
) -> LossSums:
    """The same from the states before they become logits, without ever holding all logits.

    The gradient of a cross-entropy is known with its value: probabilities minus wanted
    probabilities. So each chunk of rows is projected, compared and turned into its gradient while
    it is in the cache; only the gradients of states and table are kept for the backward pass.

    Args:
        hidden: (N, D)
        table: (V, D), the embedding that is also the output projection
        labels: (N,) int64
    """
    loss, nll = _ProjectedLoss.apply(hidden, table, labels, label_smoothing)
    return LossSums(loss, nll.detach(), labels.numel())


class _ProjectedLoss(torch.autograd.Function):
    """`loss_sums(hidden @ table.T, …)` and its gradients in one pass over chunks of rows."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, table: Tensor, labels: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        loss = torch.zeros((), device=hidden.device)
        nll = torch.zeros((), device=hidden.device)
        wanted = torch.is_grad_enabled() or hidden.requires_grad
        hidden_grad = torch.empty_like(hidden)
        table_grad = torch.zeros_like(table)
        for start in range(0, labels.numel(), CHUNK):
            rows = slice(start, start + CHUNK)
            states, own = hidden[rows], labels[rows, None]
            logits = (states @ table.T).float()  # (chunk, V)
            total = logits.logsumexp(dim=-1, keepdim=True)
            chunk_nll = (total - logits.gather(1, own)).sum()
            nll += chunk_nll
            loss += (1 - smoothing) * chunk_nll + smoothing * (
                total[:, 0] - logits.mean(dim=-1)
            ).sum()
            grad = logits.sub_(total).exp_().sub_(smoothing / logits.size(1))
            grad.scatter_add_(1, own, torch.full_like(own, smoothing - 1, dtype=grad.dtype))
            grad = grad.to(states.dtype)
            torch.mm(grad, table, out=hidden_grad[rows])
            table_grad.addmm_(grad.T, states)
        ctx.save_for_backward(hidden_grad, table_grad)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, loss_grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        hidden_grad, table_grad = ctx.saved_tensors
        return hidden_grad * loss_grad, table_grad * loss_grad, None, None
