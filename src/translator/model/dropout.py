"""Dropout from random bytes."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Dropout(nn.Module):
    """In training, zeroes each number with probability p and scales up the others; else nothing.

    Srivastava et al. (2014). `nn.Dropout` draws a random float for each number, which on a CPU took
    a seventh of the training time; one random byte each is three times as fast. So p is rounded to
    1/256, and the scale follows the rounded p.

    Raises:
        ValueError: p is not from 0 to 255/256.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p <= 255 / 256:
            raise ValueError(f"dropout: expected 0 to 255/256, got {p}")
        self.dropped_bytes = round(p * 256)  # out of the 256 values of a byte

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same shape"""
        if not self.training or self.dropped_bytes == 0:
            return x
        able = x.device.type in {"cpu", "cuda"}  # others cannot draw all values of 64 bits
        if not able or torch.compiler.is_compiling():  # nor can a compiled graph
            return F.dropout(x, self.dropped_bytes / 256)
        # eight random bytes in each word
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device)
        words.random_(-(2**63), None)  # all 64 bits, the sign too
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.dropped_bytes
        return x * kept.to(x.dtype).mul_(256 / (256 - self.dropped_bytes))

    def extra_repr(self) -> str:
        return f"p={self.dropped_bytes}/256"
