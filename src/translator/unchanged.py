"""Whether a model is still as this package makes it, so that its weights say all about it."""

from collections.abc import Mapping
from typing import Final

from torch import nn

from translator.config import ModelConfig
from translator.model.attention import MultiHeadAttention
from translator.model.decoder import Decoder, DecoderLayer
from translator.model.dropout import Dropout
from translator.model.embedding import Embedding
from translator.model.encoder import Encoder, EncoderLayer
from translator.model.layers import AddNorm, FeedForward
from translator.model.transformer import Transformer

_LAYER: Final = {
    "self_attn": MultiHeadAttention,
    "self_attn_norm": AddNorm,
    "feed_forward": FeedForward,
    "feed_forward_norm": AddNorm,
}
_PARTS: Final[Mapping[type[nn.Module], Mapping[str, type[nn.Module]]]] = {
    Transformer: {"embedding": Embedding, "encoder": Encoder, "decoder": Decoder},
    Embedding: {"dropout": Dropout},
    Encoder: {"layers": nn.ModuleList},
    Decoder: {"layers": nn.ModuleList},
    EncoderLayer: _LAYER,
    DecoderLayer: {**_LAYER, "cross_attn": MultiHeadAttention, "cross_attn_norm": AddNorm},
    MultiHeadAttention: dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), nn.Linear),
    FeedForward: {"widen": nn.Linear, "narrow": nn.Linear},
    AddNorm: {"norm": nn.LayerNorm, "dropout": Dropout},
    Dropout: {},
    nn.Linear: {},
    nn.LayerNorm: {},
    nn.ModuleList: {},
    nn.Identity: {},
}
"""Every class of a model, and the classes of its parts by name."""


_ASIDE: Final = {"__annotations__", "__annotations_cache__", "__doc__", "__slotnames__"}
"""What Python itself may write into a class that somebody only looks at, with `help` for one."""


def _written_in(kind: type[nn.Module]) -> dict[str, object]:
    return {name: value for name, value in vars(kind).items() if name not in _ASIDE}


_AS_WRITTEN: Final = {kind: _written_in(kind) for kind in _PARTS}
"""What stands in those classes; somebody may put something else there."""

_OF_EVERY_MODULE: Final = vars(nn.Module()).keys()


def is_unchanged(model: Transformer) -> bool:
    """Whether every part of a model is of the class that stands there, as it was written, without
    hooks, without methods of its own and with the settings of `model.config`; and none drops out.
    """
    hooks = nn.modules.module
    if model.training or hooks._global_forward_hooks or hooks._global_forward_pre_hooks:
        return False
    if any(_written_in(kind) != written for kind, written in _AS_WRITTEN.items()):
        return False
    return all(_is_as_made(part, model.config) for part in model.modules())


def _is_as_made(part: nn.Module, config: ModelConfig) -> bool:
    kind = type(part)
    if kind not in _PARTS or part._forward_hooks or part._forward_pre_hooks:
        return False
    if any(callable(getattr(kind, name, None)) for name in vars(part).keys() - _OF_EVERY_MODULE):
        return False  # part.forward = …
    if any(type(getattr(part, name)) is not wanted for name, wanted in _PARTS[kind].items()):
        return False
    if isinstance(part, Encoder | Decoder):
        layer = EncoderLayer if kind is Encoder else DecoderLayer
        norm = nn.LayerNorm if config.norm_first else nn.Identity
        return type(part.norm) is norm and all(type(one) is layer for one in part.layers)
    if isinstance(part, MultiHeadAttention):
        return part.n_heads == config.n_heads
    if isinstance(part, AddNorm):
        return part.norm_first == config.norm_first
    if isinstance(part, nn.LayerNorm):
        return part.eps == 1e-5 and isinstance(part.weight, nn.Parameter) and part.bias is not None
    return not isinstance(part, nn.Linear) or part.bias is not None
