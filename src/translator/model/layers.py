"""What encoder and decoder layers share: the feed-forward block, and "Add & Norm"."""

import torch
from torch import Tensor, nn

from translator.model.dropout import Dropout


class FeedForward(nn.Module):
    """Every position thinks for itself: widen, ReLU, narrow."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        out: Tensor = self.narrow(self.widen(x).relu())
        return out


def for_products(x: Tensor) -> Tensor:
    """In mixed precision, rounds what several matrix products read once for all of them; else
    nothing.  (B, T, D) -> (B, T, D)
    """
    device = x.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return x.to(torch.get_autocast_dtype(device))
    return x


class AddNorm(nn.Module):
    """The residual path around a block: `h = pre(x)`, `out = block(h)`, `x = post(x, out)`.

    Args:
        norm_first: True normalises before the block (Xiong et al., 2020: trains more easily); False
            after the addition, as in the figure of Vaswani et al. (2017).
    """

    def __init__(self, d_model: int, dropout: float, norm_first: bool) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)

    def pre(self, x: Tensor) -> Tensor:
        """What the block gets to see.  (B, T, D) -> (B, T, D)"""
        return for_products(self.norm(x)) if self.norm_first else x

    def post(self, x: Tensor, out: Tensor) -> Tensor:
        """What was there plus what the block found.  2 × (B, T, D) -> (B, T, D)"""
        x = x + self.dropout(out)
        return x if self.norm_first else self.norm(x)
