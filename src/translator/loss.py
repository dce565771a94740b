"""Cross-entropy with label smoothing, as sums: whoever adds several batches divides once, by all
their tokens.
"""

from typing import NamedTuple

from torch import Tensor


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
