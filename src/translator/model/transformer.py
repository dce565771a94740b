"""The whole figure: embed, encode, decode, compare with every token of the vocabulary."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from translator.config import ModelConfig
from translator.model.decoder import Decoder, DecoderCache
from translator.model.embedding import Embedding
from translator.model.encoder import Encoder
from translator.model.masks import causal_mask, padding_mask


class Encoded(NamedTuple):
    """What the decoder is given of the source."""

    memory: Tensor  # (B, S, D), of the last encoder layer
    memory_mask: Tensor  # (B, 1, 1, S)


class Step(NamedTuple):
    """Logits of the next token, and the cache for the call after."""

    logits: Tensor  # (B, V)
    cache: DecoderCache


class AttentionMaps(NamedTuple):
    """Where every layer and head looked in one teacher-forced pass; rows sum to 1 over real tokens,
    padding gets 0.
    """

    encoder: Tensor  # (L, B, H, S, S)
    decoder: Tensor  # (L, B, H, T, T)
    cross: Tensor  # (L, B, H, T, S)


class Transformer(nn.Module):
    """An encoder-decoder Transformer (Vaswani et al., 2017) with one embedding for source, target
    and output.

    Args:
        config: sizes and norm order
        vocab_size: V, the number of pieces of the tokenizer
        pad_id: the id that fills short rows of a batch; attention never looks at it

    `ModelConfig(norm_first=False)` gives the order of the norms in the paper's figure; the default
    normalises first, which trains more easily.
    """

    def __init__(self, config: ModelConfig, vocab_size: int, pad_id: int = 0) -> None:
        super().__init__()
        self.config = config
        self.pad_id = pad_id
        self.embedding = Embedding(vocab_size, config.d_model, config.max_len, config.dropout)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        for name, parameter in self.named_parameters():  # the embedding has set itself up
            if parameter.dim() == 2 and not name.startswith("embedding."):
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """Logits of the next token at every target position.  (B, S), (B, T) int64 -> (B, T, V)

        Raises:
            ValueError: more positions than `max_len`.
        """
        return self.embedding.logits(self.hidden(src, tgt_in))

    def hidden(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """The decoder's states before they become logits.  (B, S), (B, T) -> (B, T, D)"""
        _check_rows(src, tgt_in)
        memory, memory_mask = self.encode(src)
        out: Tensor = self.decoder(
            self.embedding(tgt_in), memory, self.tgt_mask(tgt_in), memory_mask
        ).hidden
        return out

    def encode(self, src: Tensor) -> Encoded:
        """Reads the source.  (B, S) -> memory (B, S, D) and its padding mask (B, 1, 1, S)"""
        src_mask = padding_mask(src, self.pad_id)
        return Encoded(self.encoder(self.embedding(src), src_mask).memory, src_mask)

    def tgt_mask(self, tgt_in: Tensor) -> Tensor:
        """Padding and the future are masked.  (B, T) -> (B, 1, T, T)"""
        return causal_mask(tgt_in.size(1), tgt_in.device) & padding_mask(tgt_in, self.pad_id)

    def start(self, src: Tensor) -> DecoderCache:
        """Reads the source once; every decoder layer's cross keys and values are ready.

        (B, S) -> cache of length 0
        """
        return self.decoder.start(*self.encode(src))

    def step(self, tokens: Tensor, cache: DecoderCache) -> Step:
        """Writes one token in each row and asks for the next.  (B,) -> (B, V)"""
        x = self.embedding(tokens[:, None], start=cache.length)  # (B, 1, D)
        hidden, cache = self.decoder.step(x, cache)
        return Step(self.embedding.logits(hidden[:, 0]), cache)

    @torch.no_grad()
    def attention_maps(self, src: Tensor, tgt_in: Tensor) -> AttentionMaps:
        """All three attentions of all layers and heads, from one pass.  (B, S), (B, T) -> maps

        In training mode dropout shows in them, so call `eval()` before.
        """
        _check_rows(src, tgt_in)
        src_mask = padding_mask(src, self.pad_id)
        memory, encoder = self.encoder(self.embedding(src), src_mask, need_weights=True)
        decoded = self.decoder(
            self.embedding(tgt_in), memory, self.tgt_mask(tgt_in), src_mask, need_weights=True
        )
        return AttentionMaps(
            _stack(encoder), _stack(decoded.self_weights), _stack(decoded.cross_weights)
        )


def _check_rows(src: Tensor, tgt_in: Tensor) -> None:
    if len(src) != len(tgt_in):
        raise ValueError(f"{len(src)} sources, but {len(tgt_in)} targets")


def _stack(weights: list[Tensor | None]) -> Tensor:
    """L × (B, H, Tq, Tk) -> (L, B, H, Tq, Tk)"""
    return torch.stack([layer for layer in weights if layer is not None])
