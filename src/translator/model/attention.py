"""Attention, one formula: softmax(QKᵀ/√d_k)V.

The encoder's self-attention, the decoder's masked self-attention and cross-attention are the same
class; they differ only in where query, key and value come from and in the mask.  "Attention Is All
You Need" (Vaswani et al., 2017), section 3.2.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Attended(NamedTuple):
    """What attention read, and where it looked."""

    context: Tensor  # (B, Tq, D); from the bare formula (..., Tq, d_v)
    # (B, H, Tq, Tk), rows sum to 1 (0 where all is masked); None unless asked for
    weights: Tensor | None


class KeyValue(NamedTuple):
    """Projected keys and values of all heads, ready to be attended to."""

    key: Tensor  # (B, H, Tk, Dh)
    value: Tensor  # (B, H, Tk, Dh)

    def append(self, newer: "KeyValue") -> "KeyValue":
        """With one more position at the end.  (B, H, T, Dh), (B, H, 1, Dh) -> (B, H, T + 1, Dh)"""
        return KeyValue(
            torch.cat((self.key, newer.key), dim=2), torch.cat((self.value, newer.value), dim=2)
        )

    def select(self, rows: Tensor) -> "KeyValue":
        """Some sentences, in the order of `rows`.  (B, H, T, Dh), (R,) -> (R, H, T, Dh)"""
        return KeyValue(self.key.index_select(0, rows), self.value.index_select(0, rows))


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> Attended:
    """The book's formula: how well each query matches each key decides how much of each value it
    reads. Equation (1) of the paper.

    Args:
        query: (..., Tq, d_k)
        key: (..., Tk, d_k); Tk need not equal Tq
        value: (..., Tk, d_v)
        mask: bool, broadcastable to (..., Tq, Tk), True = may attend. A query that may look nowhere
            reads zeros. None: all may attend to all.

    Returns:
        context (..., Tq, d_v) and weights (..., Tq, Tk).

    Raises:
        TypeError: a mask of numbers.
    """
    _check(mask)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (..., Tq, Tk)
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        blocked = ~mask
        weights = scores.masked_fill(blocked, -math.inf).softmax(dim=-1)
        # softmax of nothing but -inf is NaN: a query that may look nowhere gets zeros
        weights = weights.masked_fill(blocked, 0.0)
    return Attended(weights @ value, weights)


def _check(mask: Tensor | None) -> None:
    """PyTorch's kernel adds a mask of numbers to the scores: one of 0 and 1 would hide nothing."""
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"mask: expected bool (True = may attend), got {mask.dtype}")


class MultiHeadAttention(nn.Module):
    """H attentions side by side, each in its own subspace of size Dh = D / H, joined by one last
    projection. Section 3.2.2 of the paper. A subclass with another formula overrides `attend`,
    which both `forward` and the decoder's cached step call.

    Args:
        d_model: D, the width of query, key, value and result.
        n_heads: H; must divide D.

    Raises:
        ValueError: it does not.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model} cannot be split over n_heads = {n_heads}")
        self.n_heads = n_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> Attended:
        """Who asks (query), what is offered (key) and what is read (value) may come from different
        places.

        Args:
            query: (B, Tq, D)
            key, value: (B, Tk, D)
            mask: bool, broadcastable to (B, H, Tq, Tk), True = may attend; None: all may
            need_weights: also return the weights (B, H, Tq, Tk) of each head

        Returns:
            context (B, Tq, D), and the weights or None.

        Raises:
            ValueError: a mask of three dimensions, in which B could be taken for H; or not as many
                values as keys.
        """
        return self.attend(query, self.project(key, value), mask, need_weights)

    def project(self, key: Tensor, value: Tensor) -> KeyValue:
        """Keys and values once, so that many queries can use them.

        2 × (B, Tk, D) -> 2 × (B, H, Tk, Dh)
        """
        return KeyValue(self._split(self.w_k(key)), self._split(self.w_v(value)))

    def attend(
        self, query: Tensor, kv: KeyValue, mask: Tensor | None = None, need_weights: bool = False
    ) -> Attended:
        """Queries (B, Tq, D) read from projected keys and values.  -> (B, Tq, D)

        The fused kernel computes the same formula without showing the weights. On a CPU in bfloat16
        it is five times slower than the formula, so there it is not used.
        """
        if mask is not None and mask.dim() == 3:
            raise ValueError(
                f"mask: {tuple(mask.shape)} has no dimension for heads; use mask[:, None]"
            )
        if kv.key.size(2) != kv.value.size(2):  # the kernel would read what is not there
            raise ValueError(f"{kv.key.size(2)} keys, but {kv.value.size(2)} values")
        q = self._split(self.w_q(query))  # (B, H, Tq, Dh)
        slow_kernel = q.dtype == torch.bfloat16 and q.device.type == "cpu"
        if need_weights or slow_kernel:
            context, weights = scaled_dot_product_attention(q, kv.key, kv.value, mask)
        else:
            _check(mask)
            context = F.scaled_dot_product_attention(q, kv.key, kv.value, attn_mask=mask)
            weights = None
        joined = context.transpose(1, 2).flatten(2)  # (B, Tq, D)
        return Attended(self.w_o(joined), weights if need_weights else None)

    def _split(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, Dh)"""
        heads = x.view(x.size(0), x.size(1), self.n_heads, x.size(2) // self.n_heads)
        return heads.transpose(1, 2)
