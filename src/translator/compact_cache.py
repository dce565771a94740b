"""What a half-written batch remembers, claimed once and written in place."""

import torch
from torch import Tensor


class CompactCache:
    """What a half-written batch remembers. Unlike a `DecoderCache` it is written into: it must not
    be used again after the `step`, `select` or `reorder` that was given it.

    Args:
        own: (L, 2, B, H, room, Dh), keys and values of the target, the first `length` written
        cross: (L, 2, B, H, S, Dh), keys and values of the source
        bias: (B, H, 1, S), 0 or -inf; None when there is no padding
    """

    def __init__(self, own: Tensor, cross: Tensor, bias: Tensor | None, length: int) -> None:
        self.own = own
        self.cross = cross
        self.bias = bias
        self.length = length

    def select(self, rows: Tensor) -> "CompactCache":
        """Keeps some rows of the batch, in the order of `rows`, repeats allowed.  (R,) int64"""
        if self._close_gaps(rows.tolist()):
            n = len(rows)
            bias = None if self.bias is None else self.bias[:n]
            return CompactCache(self.own[:, :, :n], self.cross[:, :, :n], bias, self.length)
        bias = None if self.bias is None else self.bias.index_select(0, rows)
        return CompactCache(self._own_of(rows), self.cross.index_select(2, rows), bias, self.length)

    def reorder(self, rows: Tensor) -> "CompactCache":
        """As `select`, for hypotheses of the same sentences: only the past changes hands."""
        return CompactCache(self._own_of(rows), self.cross, self.bias, self.length)

    def repeat(self, k: int) -> "CompactCache":
        """Every row k times in a row."""
        rows = torch.arange(self.own.size(2), device=self.own.device)
        return self.select(rows.repeat_interleave(k))

    def make_room(self) -> None:
        """For one position more at least."""
        layers, two, batch, heads, room, width = self.own.shape
        if self.length == room:
            larger = self.own.new_empty(layers, two, batch, heads, 2 * room, width)
            larger[:, :, :, :, :room] = self.own
            self.own = larger

    def _close_gaps(self, rows: list[int]) -> bool:
        """Moves rows from behind the new end into the places of rows that left, which is all there
        is to do when the others stay where they are.  -> whether it was so
        """
        moves = [(place, row) for place, row in enumerate(rows) if place != row]
        if any(row < len(rows) for _, row in moves):
            return False
        for place, row in moves:
            self.own[:, :, place, :, : self.length] = self.own[:, :, row, :, : self.length]
            self.cross[:, :, place] = self.cross[:, :, row]
            if self.bias is not None:
                self.bias[place] = self.bias[row]
        return True

    def _own_of(self, rows: Tensor) -> Tensor:
        layers, two, _, heads, room, width = self.own.shape
        own = self.own.new_empty(layers, two, len(rows), heads, room, width)
        written = self.own[:, :, :, :, : self.length]
        own[:, :, :, :, : self.length] = written.index_select(2, rows)
        return own
