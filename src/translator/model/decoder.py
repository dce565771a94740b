"""The decoder writes the target token by token, and at every layer glances back at the source.

`forward` is the chapter: all target positions at once, the future masked. `step` is the
same computation for one new position, with the keys and values of earlier positions kept in a
cache. A test holds the two equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from translator.config import ModelConfig
from translator.model.attention import KeyValue, MultiHeadAttention
from translator.model.layers import AddNorm, FeedForward


class DecoderLayerOutput(NamedTuple):
    """One layer's result and, when asked for, where its two attentions looked."""

    hidden: Tensor  # (B, T, D)
    self_weights: Tensor | None  # (B, H, T, T)
    cross_weights: Tensor | None  # (B, H, T, S)


class DecoderOutput(NamedTuple):
    """The states that become logits and, when asked for, where each layer looked."""

    hidden: Tensor  # (B, T, D)
    self_weights: list[Tensor | None]  # L × (B, H, T, T), or L × None when not asked for
    cross_weights: list[Tensor | None]  # L × (B, H, T, S), or L × None


class LayerCache(NamedTuple):
    """What one decoder layer remembers: its own past, and the source as it sees it."""

    self_kv: KeyValue  # (B, H, T, Dh) of the target so far
    cross_kv: KeyValue  # (B, H, S, Dh) of the memory, computed once


@dataclass(frozen=True)
class DecoderCache:
    """Everything that a half-written batch of translations carries from step to step; a plain
    value.
    """

    layers: tuple[LayerCache, ...]
    memory_mask: Tensor  # (B, 1, 1, S)

    @property
    def length(self) -> int:
        """T, the number of target positions already written."""
        return self.layers[0].self_kv.key.size(2)

    def select(self, rows: Tensor) -> "DecoderCache":
        """Keeps some rows of the batch, in the order of `rows`, repeats allowed.  (R,) int64"""
        layers = (LayerCache(own.select(rows), cross.select(rows)) for own, cross in self.layers)
        return DecoderCache(tuple(layers), self.memory_mask.index_select(0, rows))

    def repeat(self, k: int) -> "DecoderCache":
        """Every row k times in a row, for k hypotheses of each sentence.  B -> B · k rows"""
        rows = torch.arange(self.memory_mask.size(0), device=self.memory_mask.device)
        return self.select(rows.repeat_interleave(k))

    def reorder(self, rows: Tensor) -> "DecoderCache":
        """As `select`, for hypotheses of the same sentences: only the past changes hands.

        (B,) int64 -> as many rows
        """
        layers = (LayerCache(own.select(rows), cross) for own, cross in self.layers)
        return DecoderCache(tuple(layers), self.memory_mask)


class LayerStep(NamedTuple):
    """One layer's result for one new position, and its cache with that position appended."""

    hidden: Tensor  # (B, 1, D)
    cache: LayerCache


class DecoderStep(NamedTuple):
    """The stack's result for one new position, and the cache for the next call."""

    hidden: Tensor  # (B, 1, D)
    cache: DecoderCache


class DecoderLayer(nn.Module):
    """Masked self-attention, then cross-attention over the encoder's memory, then feed-forward.
    Section 3.1 of the paper.

    Args:
        config: d_model, n_heads, d_ff, dropout and norm_first count
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d_model, dropout, norm_first = config.d_model, config.dropout, config.norm_first
        self.self_attn = MultiHeadAttention(d_model, config.n_heads)
        self.self_attn_norm = AddNorm(d_model, dropout, norm_first)
        self.cross_attn = MultiHeadAttention(d_model, config.n_heads)
        self.cross_attn_norm = AddNorm(d_model, dropout, norm_first)
        self.feed_forward = FeedForward(d_model, config.d_ff)
        self.feed_forward_norm = AddNorm(d_model, dropout, norm_first)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None,
        memory_mask: Tensor | None,
        need_weights: bool = False,
    ) -> DecoderLayerOutput:
        """Each target position looks at the target so far, then asks: which source word now?

        Args:
            x: (B, T, D)
            memory: (B, S, D), the last encoder layer's output, the same for every decoder layer
            tgt_mask: (B, 1, T, T), padding and future masked
            memory_mask: (B, 1, 1, S), source padding masked
            need_weights: also return the weights of both attentions

        Returns:
            hidden (B, T, D), and the weights or None.
        """
        h = self.self_attn_norm.pre(x)
        own = self.self_attn(h, h, h, tgt_mask, need_weights)
        x = self.self_attn_norm.post(x, own.context)

        h = self.cross_attn_norm.pre(x)
        cross = self.cross_attn(h, memory, memory, memory_mask, need_weights)
        x = self.cross_attn_norm.post(x, cross.context)

        h = self.feed_forward_norm.pre(x)
        x = self.feed_forward_norm.post(x, self.feed_forward(h))
        return DecoderLayerOutput(x, own.weights, cross.weights)

    def start(self, memory: Tensor) -> LayerCache:
        """An empty past, and the keys and values of the memory.  (B, S, D) -> cache"""
        cross_kv = self.cross_attn.project(memory, memory)  # (B, H, S, Dh)
        past = KeyValue(cross_kv.key[:, :, :0], cross_kv.value[:, :, :0])  # (B, H, 0, Dh)
        return LayerCache(past, cross_kv)

    def step(self, x: Tensor, cache: LayerCache, memory_mask: Tensor) -> LayerStep:
        """`forward` for one new position. The cache holds nothing but the past, so no causal mask
        is needed.

        (B, 1, D) -> (B, 1, D)
        """
        h = self.self_attn_norm.pre(x)
        self_kv = cache.self_kv.append(self.self_attn.project(h, h))  # (B, H, T + 1, Dh)
        x = self.self_attn_norm.post(x, self.self_attn.attend(h, self_kv).context)

        h = self.cross_attn_norm.pre(x)
        x = self.cross_attn_norm.post(
            x, self.cross_attn.attend(h, cache.cross_kv, memory_mask).context
        )

        h = self.feed_forward_norm.pre(x)
        x = self.feed_forward_norm.post(x, self.feed_forward(h))
        return LayerStep(x, LayerCache(self_kv, cache.cross_kv))


class Decoder(nn.Module):
    """A stack of decoder layers over one memory; ends in a LayerNorm when `norm_first`. It takes
    vectors, not ids: `Transformer.hidden` embeds a target and comes here.

    Args:
        config: n_decoder_layers, and what `DecoderLayer` needs
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_decoder_layers))
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None,
        memory_mask: Tensor | None,
        need_weights: bool = False,
    ) -> DecoderOutput:
        """All target positions at once; masks as in DecoderLayer.

        (B, T, D), (B, S, D) -> (B, T, D)
        """
        self_weights, cross_weights = [], []
        for layer in self.layers:
            x, own, cross = layer(x, memory, tgt_mask, memory_mask, need_weights)
            self_weights.append(own)
            cross_weights.append(cross)
        return DecoderOutput(self.norm(x), self_weights, cross_weights)

    def start(self, memory: Tensor, memory_mask: Tensor) -> DecoderCache:
        """The cache before the first token.  (B, S, D), (B, 1, 1, S) -> cache of length 0"""
        return DecoderCache(tuple(layer.start(memory) for layer in self._layers()), memory_mask)

    def step(self, x: Tensor, cache: DecoderCache) -> DecoderStep:
        """One new position through all layers.  (B, 1, D) -> (B, 1, D)"""
        newer = []
        for layer, layer_cache in zip(self._layers(), cache.layers, strict=True):
            x, updated = layer.step(x, layer_cache, cache.memory_mask)
            newer.append(updated)
        return DecoderStep(self.norm(x), DecoderCache(tuple(newer), cache.memory_mask))

    def _layers(self) -> Sequence[DecoderLayer]:
        return list(self.layers)  # type: ignore[arg-type]
