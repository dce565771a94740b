"""A small English-Korean encoder-decoder Transformer: readable, trainable in minutes, useful
afterwards.

The public names below are loaded on first use, so `import translator` costs nothing and the command
line answers at once.
"""

import importlib.util
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from translator.config import (
        Config,
        DataConfig,
        DecodingConfig,
        ModelConfig,
        TokenizerConfig,
        TrainConfig,
    )
    from translator.documents import Alternative, TranslatedLine, translate_lines
    from translator.errors import UserError
    from translator.inference import Translator
    from translator.model.attention import MultiHeadAttention, scaled_dot_product_attention
    from translator.model.decoder import Decoder, DecoderLayer
    from translator.model.encoder import Encoder, EncoderLayer
    from translator.model.transformer import Transformer
    from translator.translation import Translation

__version__ = "0.1.0"

_HOME: Final = {
    "Config": "config",
    "DataConfig": "config",
    "DecodingConfig": "config",
    "ModelConfig": "config",
    "TokenizerConfig": "config",
    "TrainConfig": "config",
    "UserError": "errors",
    "Translator": "inference",
    "MultiHeadAttention": "model.attention",
    "scaled_dot_product_attention": "model.attention",
    "Decoder": "model.decoder",
    "DecoderLayer": "model.decoder",
    "Encoder": "model.encoder",
    "EncoderLayer": "model.encoder",
    "Transformer": "model.transformer",
    "Translation": "translation",
    "Alternative": "documents",
    "TranslatedLine": "documents",
    "translate_lines": "documents",
}

__all__ = [
    "Alternative",
    "Config",
    "DataConfig",
    "Decoder",
    "DecoderLayer",
    "DecodingConfig",
    "Encoder",
    "EncoderLayer",
    "ModelConfig",
    "MultiHeadAttention",
    "TokenizerConfig",
    "TrainConfig",
    "Transformer",
    "TranslatedLine",
    "Translation",
    "Translator",
    "UserError",
    "__version__",
    "scaled_dot_product_attention",
    "translate_lines",
]


if not TYPE_CHECKING:  # a type checker is to see misspelled names

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            is_module = name.isidentifier() and not name.startswith("_")
            if is_module and importlib.util.find_spec(f"translator.{name}"):  # translator.documents
                return importlib.import_module(f"translator.{name}")
            raise AttributeError(f"module 'translator' has no attribute {name!r}")
        return getattr(importlib.import_module(f"translator.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
