"""The two masks of which the chapter's three are made. True = may attend; always broadcastable to
(B, H, Tq, Tk).
"""

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Which positions hold a real token: nobody may look at padding.  (B, S) -> (B, 1, 1, S)

    Raises ValueError: ids without a batch, or with more than one.
    """
    if ids.dim() != 2:
        raise ValueError(f"ids: expected (B, S), got {tuple(ids.shape)}")
    return (ids != pad_id)[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Which positions may look where: position t sees 0..t, never the future.  -> (1, 1, T, T)"""
    past = torch.ones(length, length, dtype=torch.bool, device=device).tril()  # (T, T)
    return past[None, None]  # (1, 1, T, T)
