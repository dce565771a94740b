"""A plain loop around torch.nn.Transformer, as a tutorial would write it."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from participants.loop import LEARNING_RATE, PAD_ID, Batch, read_vocabulary, run
from participants.measuring import (
    D_FF,
    D_MODEL,
    DROPOUT,
    MAX_LEN,
    N_HEADS,
    N_LAYERS,
    SEED,
    arguments,
)


class PlainTransformer(nn.Module):
    """torch.nn.Transformer between one embedding for source and target and the same as output."""

    positions: Tensor  # (MAX_LEN, D)

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, D_MODEL, padding_idx=PAD_ID)
        nn.init.normal_(self.embedding.weight, std=D_MODEL**-0.5)
        self.register_buffer("positions", sinusoids())
        self.dropout = nn.Dropout(DROPOUT)
        self.transformer = nn.Transformer(
            D_MODEL,
            N_HEADS,
            N_LAYERS,
            N_LAYERS,
            D_FF,
            DROPOUT,
            batch_first=True,
            norm_first=True,
        )

    def forward(self, batch: Batch) -> Tensor:
        """Logits at every target position.  -> (B, T, V)"""
        padding = batch.src == PAD_ID  # (B, S)
        length = batch.tgt_in.size(1)
        future = torch.ones(length, length, dtype=torch.bool).triu(1)  # (T, T), True = hidden
        hidden = self.transformer(
            self._embed(batch.src),
            self._embed(batch.tgt_in),
            tgt_mask=future,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )  # (B, T, D)
        return F.linear(hidden, self.embedding.weight)

    def _embed(self, ids: Tensor) -> Tensor:
        scaled = self.embedding(ids) * math.sqrt(D_MODEL)  # (B, T, D)
        return self.dropout(scaled + self.positions[: ids.size(1)])


def sinusoids() -> Tensor:
    """Sine and cosine of falling frequency side by side.  -> (MAX_LEN, D)"""
    position = torch.arange(MAX_LEN, dtype=torch.float32)[:, None]  # (MAX_LEN, 1)
    frequency = torch.exp(torch.arange(0, D_MODEL, 2) * (-math.log(10_000.0) / D_MODEL))  # (D / 2,)
    angle = position * frequency  # (MAX_LEN, D / 2)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # (MAX_LEN, D)


def main() -> None:
    """Trains for the steps asked for and prints what was measured."""
    args = arguments(__doc__)
    torch.manual_seed(SEED)
    model = PlainTransformer(len(read_vocabulary(args.data)))
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98))
    run("plain_torch", model, optimizer, args)


if __name__ == "__main__":
    main()
