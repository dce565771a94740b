"""torch.nn.Transformer with an embedding, as a tutorial would write it."""

import math

import torch
import torch.nn.functional as F
from participants.measuring import D_FF, D_MODEL, DROPOUT, N_HEADS, N_LAYERS
from torch import Tensor, nn


class PlainTransformer(nn.Module):
    """torch.nn.Transformer between one embedding for source and target and the same as output.

    With `norm_first` it is torch.nn.Transformer as it comes, which normalises once more at the end
    of both stacks. Without, that last norm is left out: it would be one too many for weights that
    were trained in the order of the paper.

    Args:
        vocab_size: V
        pad: the id that fills short rows
        positions: (max_len, D), added to the embeddings
        norm_first: whether each block normalises first, or last
    """

    positions: Tensor  # (max_len, D)

    def __init__(self, vocab_size: int, pad: int, positions: Tensor, *, norm_first: bool) -> None:
        super().__init__()
        self.pad = pad
        self.embedding = nn.Embedding(vocab_size, D_MODEL, padding_idx=pad)
        nn.init.normal_(self.embedding.weight, std=D_MODEL**-0.5)
        self.register_buffer("positions", positions)
        self.dropout = nn.Dropout(DROPOUT)
        self.transformer = nn.Transformer(
            D_MODEL,
            N_HEADS,
            N_LAYERS,
            N_LAYERS,
            D_FF,
            DROPOUT,
            batch_first=True,
            norm_first=norm_first,
        )
        if not norm_first:
            self.transformer.encoder.norm = None
            self.transformer.decoder.norm = None

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """Logits at every target position.  (B, S), (B, T) -> (B, T, V)"""
        padding = src == self.pad  # (B, S)
        hidden = self.transformer(
            self._embed(src),
            self._embed(tgt_in),
            tgt_mask=future(tgt_in.size(1)),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )  # (B, T, D)
        return F.linear(hidden, self.embedding.weight)

    def encode(self, src: Tensor) -> Tensor:
        """(B, S) -> (B, S, D)"""
        memory: Tensor = self.transformer.encoder(
            self._embed(src), src_key_padding_mask=src == self.pad
        )
        return memory

    def next_logits(self, tgt: Tensor, memory: Tensor, padding: Tensor) -> Tensor:
        """(B, T), (B, S, D), (B, S) -> (B, V)"""
        hidden = self.transformer.decoder(
            self._embed(tgt),
            memory,
            tgt_mask=future(tgt.size(1)),
            memory_key_padding_mask=padding,
        )  # (B, T, D)
        return F.linear(hidden[:, -1], self.embedding.weight)

    def _embed(self, ids: Tensor) -> Tensor:
        scaled = self.embedding(ids) * math.sqrt(D_MODEL)  # (B, T, D)
        embedded: Tensor = self.dropout(scaled + self.positions[: ids.size(1)])
        return embedded


def future(length: int) -> Tensor:
    """What is hidden from whom, in torch.nn.Transformer's way: True is hidden.  -> (T, T)"""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def sinusoids(length: int) -> Tensor:
    """Sine and cosine of falling frequency side by side.  -> (length, D)"""
    position = torch.arange(length, dtype=torch.float32)[:, None]  # (length, 1)
    frequency = torch.exp(torch.arange(0, D_MODEL, 2) * (-math.log(10_000.0) / D_MODEL))  # (D / 2,)
    angle = position * frequency  # (length, D / 2)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # (length, D)
