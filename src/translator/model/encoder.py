"""The encoder reads the whole source at once and leaves a memory: one vector a source token."""

from typing import NamedTuple

from torch import Tensor, nn

from translator.config import ModelConfig
from translator.model.attention import MultiHeadAttention
from translator.model.layers import AddNorm, FeedForward, for_products


class EncoderLayerOutput(NamedTuple):
    """One layer's result and, when asked for, where its self-attention looked."""

    hidden: Tensor  # (B, S, D)
    self_weights: Tensor | None  # (B, H, S, S)


class EncoderOutput(NamedTuple):
    """The memory that every decoder layer reads and, when asked for, where each layer looked."""

    memory: Tensor  # (B, S, D)
    self_weights: list[Tensor | None]  # L × (B, H, S, S), or L × None when not asked for


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward; each with its residual path. Section 3.1 of the paper.

    Args:
        config: d_model, n_heads, d_ff, dropout and norm_first count
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d_model, dropout, norm_first = config.d_model, config.dropout, config.norm_first
        self.self_attn = MultiHeadAttention(d_model, config.n_heads)
        self.self_attn_norm = AddNorm(d_model, dropout, norm_first)
        self.feed_forward = FeedForward(d_model, config.d_ff)
        self.feed_forward_norm = AddNorm(d_model, dropout, norm_first)

    def forward(
        self, x: Tensor, src_mask: Tensor | None, need_weights: bool = False
    ) -> EncoderLayerOutput:
        """Every source token looks at every real source token.

        (B, S, D), (B, 1, 1, S) -> (B, S, D)
        """
        h = self.self_attn_norm.pre(x)
        attended = self.self_attn(h, h, h, src_mask, need_weights)
        x = self.self_attn_norm.post(x, attended.context)

        h = self.feed_forward_norm.pre(x)
        x = self.feed_forward_norm.post(x, self.feed_forward(h))
        return EncoderLayerOutput(x, attended.weights)


class Encoder(nn.Module):
    """A stack of encoder layers; ends in a LayerNorm when `norm_first`. It takes vectors, not ids:
    `Transformer.encode` embeds a source and comes here.

    Args:
        config: n_encoder_layers, and what `EncoderLayer` needs
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_encoder_layers))
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(
        self, x: Tensor, src_mask: Tensor | None, need_weights: bool = False
    ) -> EncoderOutput:
        """Embedded source -> memory.  (B, S, D), (B, 1, 1, S) -> (B, S, D)"""
        self_weights = []
        for layer in self.layers:
            x, weights = layer(x, src_mask, need_weights)
            self_weights.append(weights)
        return EncoderOutput(for_products(self.norm(x)), self_weights)
