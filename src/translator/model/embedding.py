"""From token ids to vectors: what a word is (learned) plus where it stands (sine and cosine)."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translator.model.dropout import Dropout


def sinusoidal_positions(length: int, d_model: int) -> Tensor:
    """One fixed vector for each position; pairs of sine and cosine of falling frequency.  -> (T, D)

    Vaswani et al. (2017), section 3.5.  Raises ValueError for an odd D.
    """
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd: no pairs of sine and cosine")
    position = torch.arange(length, dtype=torch.float32)[:, None]  # (T, 1)
    frequency = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10_000.0) / d_model))  # (D / 2,)
    angle = position * frequency  # (T, D / 2)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # (T, D)


class Embedding(nn.Module):
    """Token embedding × √D plus position; the same matrix turns decoder states back into logits.

    Source, target and output share one matrix ("tied embeddings", Press and Wolf, 2017), which
    works since the vocabulary is joint. It starts with standard deviation 1/√D, so that embeddings
    have unit variance after the √D, and logits, which skip that factor, start near unit variance.

    Args:
        vocab_size: V
        d_model: D
        max_len: the longest sequence, in tokens
        dropout: probability of zeroing a component during training
    """

    positions: Tensor  # (max_len, D), computed, not saved: a longer table fits an old checkpoint

    def __init__(self, vocab_size: int, d_model: int, max_len: int, dropout: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=d_model**-0.5))
        positions = sinusoidal_positions(max_len, d_model).to(self.weight.dtype)
        self.register_buffer("positions", positions, persistent=False)
        self.register_load_state_dict_post_hook(_compute_positions)  # type: ignore[no-untyped-call]
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """Embeds tokens that stand at positions start, start + 1, …  (B, T) -> (B, T, D)

        Raises:
            ValueError: the sequence reaches past max_len.
        """
        end = start + ids.size(1)
        if end > len(self.positions):
            raise ValueError(f"{end} tokens, but max_len = {len(self.positions)}")
        scaled = F.embedding(ids, self.weight) * math.sqrt(self.weight.size(1))  # (B, T, D)
        out: Tensor = self.dropout(scaled + self.positions[start:end])
        return out

    def logits(self, hidden: Tensor) -> Tensor:
        """How well each state matches each token's embedding.  (..., D) -> (..., V)"""
        return F.linear(hidden, self.weight)


def _compute_positions(embedding: Embedding, _keys: object) -> None:
    """After weights were loaded: a model made on the meta device has had no table until now."""
    with torch.device("cpu"):  # where a new model computes it: the same to the last bit
        positions = sinusoidal_positions(*embedding.positions.shape)
    embedding.positions = positions.to(embedding.weight)  # its device and number format
