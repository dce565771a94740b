"""A trained model laid out for decoding: the same two calls as `Transformer`, fewer and larger
steps.

`Transformer.step` is the one to read. Here query, key and value of a layer are one product, the
cross keys and values of all layers another; caches are claimed once and written in place; and most
of the vocabulary is compared in whole numbers, for only the likeliest tokens need exact logits.
Tests hold the two equal.
"""

import math
from copy import copy
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translator.compact_cache import CompactCache
from translator.hardware import has_fast_int8
from translator.model.decoder import DecoderLayer
from translator.model.encoder import EncoderLayer
from translator.model.layers import AddNorm
from translator.model.transformer import Transformer
from translator.picking import largest
from translator.products import Affine, Float32Product, Int8Product, Product, joined

Layer = TypeVar("Layer", EncoderLayer, DecoderLayer)

ROOM: Final = 32  # target positions that a new cache has; it doubles when they are full
EXACT: Final = 8  # logits of a row that are computed exactly, when nothing more is asked for


class CompactStep(NamedTuple):
    """Logits of the next token, and the cache for the call after."""

    logits: Tensor  # (B, V)
    cache: CompactCache


@dataclass(frozen=True)
class _Norm:
    """Where the norm of a residual block stands, and its numbers."""

    weight: Tensor
    bias: Tensor
    first: bool

    @classmethod
    def of(cls, block: AddNorm) -> "_Norm":
        return cls(block.norm.weight.detach(), block.norm.bias.detach(), block.norm_first)

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, (x.size(-1),), self.weight, self.bias)

    def pre(self, x: Tensor) -> Tensor:
        return self(x) if self.first else x

    def post(self, x: Tensor) -> Tensor:
        return x if self.first else self(x)


class _EncoderLayer:
    """One encoder layer; all positions of the batch are rows of one matrix."""

    def __init__(self, layer: EncoderLayer, precision: str) -> None:
        own, forward = layer.self_attn, layer.feed_forward
        self.n_heads = own.n_heads
        self.qkv = joined([Affine.of(part) for part in (own.w_q, own.w_k, own.w_v)], precision)
        self.out = joined([Affine.of(own.w_o)], precision)
        self.widen = joined([Affine.of(forward.widen)], precision)
        self.narrow = joined([Affine.of(forward.narrow)], precision)
        self.own_norm = _Norm.of(layer.self_attn_norm)
        self.forward_norm = _Norm.of(layer.feed_forward_norm)

    def __call__(self, x: Tensor, shape: torch.Size, mask: Tensor | None) -> Tensor:
        """(B · S, D) -> (B · S, D); shape is (B, S)"""
        heads = self.qkv(self.own_norm.pre(x)).view(*shape, 3, self.n_heads, -1)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind(0)  # 3 × (B, H, S, Dh)
        context = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.own_norm.post(self.out(context.transpose(1, 2).reshape(x.shape), plus=x))
        hidden = self.widen(self.forward_norm.pre(x), relu=True)
        return self.forward_norm.post(self.narrow(hidden, plus=x))


class _DecoderLayer:
    """One decoder layer for one new position of each row."""

    def __init__(self, layer: DecoderLayer, precision: str) -> None:
        own, cross, forward = layer.self_attn, layer.cross_attn, layer.feed_forward
        self.n_heads = own.n_heads
        scale = 1 / math.sqrt(own.w_q.out_features // own.n_heads)  # the formula's 1/√d_k
        self.qkv = joined(
            [Affine.of(own.w_q, scale), Affine.of(own.w_k), Affine.of(own.w_v)], precision
        )
        self.own_out = joined([Affine.of(own.w_o)], precision)
        self.cross_query = joined([Affine.of(cross.w_q, scale)], precision)
        self.cross_out = joined([Affine.of(cross.w_o)], precision)
        self.widen = joined([Affine.of(forward.widen)], precision)
        self.narrow = joined([Affine.of(forward.narrow)], precision)
        self.own_norm = _Norm.of(layer.self_attn_norm)
        self.cross_norm = _Norm.of(layer.cross_attn_norm)
        self.forward_norm = _Norm.of(layer.feed_forward_norm)

    def __call__(
        self, x: Tensor, own: Tensor, cross: Tensor, bias: Tensor | None, length: int
    ) -> Tensor:
        """(B, D) -> (B, D); `own`, (2, B, H, room, Dh), is written at position `length`."""
        heads = self.qkv(self.own_norm.pre(x)).view(x.size(0), 3, self.n_heads, -1)
        own.select(3, length).copy_(heads[:, 1:].transpose(0, 1))
        past = own.narrow(3, 0, length + 1)  # (2, B, H, T, Dh)
        read = _attend(heads.select(1, 0), past, None)
        x = self.own_norm.post(self.own_out(read, plus=x))

        query = self.cross_query(self.cross_norm.pre(x)).view(x.size(0), self.n_heads, -1)
        x = self.cross_norm.post(self.cross_out(_attend(query, cross, bias), plus=x))

        hidden = self.widen(self.forward_norm.pre(x), relu=True)
        return self.forward_norm.post(self.narrow(hidden, plus=x))


def _attend(query: Tensor, kv: Tensor, bias: Tensor | None) -> Tensor:
    """The formula for one query of each row, already divided by √d_k.  (B, H, Dh), (2, B, H, T, Dh)
    -> (B, D)
    """
    key, value = kv.flatten(1, 2).unbind(0)  # 2 × (B · H, T, Dh)
    asked = query.reshape(key.size(0), 1, -1)
    if bias is None:
        scores = torch.bmm(asked, key.transpose(1, 2))  # (B · H, 1, T)
    else:
        scores = torch.baddbmm(bias.flatten(0, 1), asked, key.transpose(1, 2))
    return torch.bmm(scores.softmax(dim=-1), value).view(query.size(0), -1)


class _Vocabulary:
    """Compares states with all tokens: in whole numbers, and then exactly with the likeliest.

    The n likeliest tokens by int8 get exact logits. The best is among them unless more than n
    tokens lie within the rounding error of it, about a hundredth. The others only enter the sum of
    the softmax, so a log-probability is off by a few thousandths. Without instructions for int8
    every logit is exact.
    """

    def __init__(self, table: Tensor) -> None:
        self._table = table  # (V, D)
        shortlists = has_fast_int8(table.device)
        self._rough: Product | None = Int8Product(table, None) if shortlists else None
        self._all: Product = Float32Product(table, None)

    def __call__(self, x: Tensor, n_exact: int) -> Tensor:
        """(B, D) -> (B, V)"""
        if self._rough is None or n_exact >= len(self._table):
            return self._all(x)
        logits = self._rough(x)
        likeliest = largest(logits, n_exact).indices  # (B, n)
        exact = torch.bmm(self._table[likeliest], x[:, :, None])[:, :, 0]
        return logits.scatter_(1, likeliest, exact)


class CompactModel:
    """A model that only decodes. It copies the weights: what is learned later does not reach it.

    Args:
        model: any that is loaded; dropout plays no part here
        precision: "fp32"; "bf16", in which the encoder multiplies, while the decoder, which decides
            between words, stays exact; or "int8", in which all weights are whole numbers
    """

    def __init__(self, model: Transformer, precision: str = "fp32") -> None:
        decides = "int8" if precision == "int8" else "fp32"
        encoder = _layers(model.encoder.layers, EncoderLayer)
        decoder = _layers(model.decoder.layers, DecoderLayer)
        cross = [
            Affine.of(part)
            for layer in decoder
            for part in (layer.cross_attn.w_k, layer.cross_attn.w_v)
        ]
        self.n_exact = EXACT
        self._pad_id = model.pad_id
        self._encoder = [_EncoderLayer(layer, precision) for layer in encoder]
        self._decoder = [_DecoderLayer(layer, decides) for layer in decoder]
        self._cross = joined(cross, decides)
        self._encoder_norm = _last(model.encoder.norm)
        self._decoder_norm = _last(model.decoder.norm)
        table = model.embedding.weight.detach().clone()  # (V, D)
        self._scaled = table * math.sqrt(table.size(1))
        self._positions = model.embedding.positions  # (max_len, D)
        self._vocabulary = _Vocabulary(table)

    def with_exact(self, n: int) -> "CompactModel":
        """The same, but with n exact logits in a row; another thread may want fewer."""
        other = copy(self)
        other.n_exact = n
        return other

    @torch.no_grad()
    def start(self, src: Tensor) -> CompactCache:
        """Reads the source once; the cross keys and values of all layers are ready.  (B, S) ->
        cache

        Raises:
            ValueError: the source reaches past max_len.
        """
        batch, length = src.shape
        self._check(length)
        real = src != self._pad_id
        mask = None if bool(real.all()) else real[:, None, None]  # (B, 1, 1, S)
        x = F.embedding(src, self._scaled) + self._positions[:length]  # (B, S, D)
        x = x.flatten(0, 1)
        for layer in self._encoder:
            x = layer(x, src.shape, mask)
        if self._encoder_norm is not None:
            x = self._encoder_norm(x)

        n_heads = self._decoder[0].n_heads
        cross = self._cross(x).view(batch, length, len(self._decoder), 2, n_heads, -1)
        cross = cross.permute(2, 3, 0, 4, 1, 5).contiguous()  # (L, 2, B, H, S, Dh)
        own = cross.new_empty(len(self._decoder), 2, batch, n_heads, ROOM, cross.size(-1))
        bias = None
        if mask is not None:
            bias = x.new_zeros(batch, n_heads, 1, length).masked_fill_(~mask, -math.inf)
        return CompactCache(own, cross, bias, 0)

    @torch.no_grad()
    def step(self, tokens: Tensor, cache: CompactCache) -> CompactStep:
        """Writes one token in each row and asks for the next.  (B,) -> (B, V)

        Raises:
            ValueError: the translation reaches past max_len.
        """
        self._check(cache.length + 1)
        cache.make_room()
        x = F.embedding(tokens, self._scaled) + self._positions[cache.length]  # (B, D)
        for layer, own, cross in zip(self._decoder, cache.own, cache.cross, strict=True):
            x = layer(x, own, cross, cache.bias, cache.length)
        if self._decoder_norm is not None:
            x = self._decoder_norm(x)
        cache.length += 1
        return CompactStep(self._vocabulary(x, self.n_exact), cache)

    def _check(self, length: int) -> None:
        if length > len(self._positions):
            raise ValueError(f"{length} tokens, but max_len = {len(self._positions)}")


def _layers(stack: nn.ModuleList, kind: type[Layer]) -> list[Layer]:
    layers = [layer for layer in stack if isinstance(layer, kind)]
    assert len(layers) == len(stack)
    return layers


def _last(norm: nn.Module) -> _Norm | None:
    """The norm at the end of a stack, which there is only when norms come first."""
    if isinstance(norm, nn.LayerNorm):
        return _Norm(norm.weight.detach(), norm.bias.detach(), first=True)
    return None
