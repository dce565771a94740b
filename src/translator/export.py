"""Checkpoint -> CTranslate2 directory, checked before anyone relies on it.

There is no ONNX export: an exported graph holds one step, so that search, cache and masks would
have to be written a second time around it, for a run time that is slower at this than CTranslate2.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import torch
import yaml
from torch import Tensor

from translator.checkpoint import Checkpoint
from translator.exported import SETTINGS, TOKENIZER, ExportError, import_ctranslate2
from translator.inference import Translator
from translator.levels import DEFAULT_STYLE
from translator.metrics import check_available, chrf
from translator.tokenizer import BOS_ID, EOS_ID, UNK_ID

QUANTIZATIONS: Final = ("float32", "int8")
TELLING: Final = 5  # that many sentences do not all have one translation
SAME_AT_LEAST: Final = 0.99  # share of texts; near ties may fall either way in another library


@dataclass(frozen=True, kw_only=True)
class ExportReport:
    """How the export's greedy translations compare with the checkpoint's."""

    sentences: int
    same_in_float32: int  # number whose text is the same to the letter
    same: int  # as exported
    chrf: float  # of the export's texts against PyTorch's, 0 to 100


def export_model(
    checkpoint: Checkpoint,
    path: str | Path,
    quantization: str,
    sentences: Sequence[str],
    style: str = DEFAULT_STYLE,
) -> ExportReport:
    """Writes a directory that CTranslate2 and `Translator.from_pretrained` can open.

    The float32 export of the same weights has to translate `sentences` as PyTorch does; otherwise
    nothing is written.

    Args:
        path: must not exist yet
        quantization: of QUANTIZATIONS; int8 takes a quarter of the size and is faster
        sentences: English, to compare
        style: speech level in which they are compared

    Raises:
        ExportError: the directory exists, there is no such quantization, CTranslate2 is not
            installed, the texts differ, or the model gives the same for every sentence.
        EvaluationError: sacrebleu is not installed.
        TokenizerError: no such style.
    """
    path = Path(path)
    _check(path, quantization)
    original = Translator(checkpoint.build_model(), checkpoint.tokenizer, checkpoint.config)
    expected = _texts(original, sentences, style)
    if len(set(expected)) == 1 and len(sentences) >= TELLING:
        raise ExportError(
            f"the model translates all {len(sentences)} sentences as {expected[0]!r}, so a "
            "comparison would show nothing; train it first"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as work:
        made = Path(work) / "float32"
        texts = _exported_texts(checkpoint, made, "float32", sentences, style)
        same = _agreeing(texts, expected)
        if same < SAME_AT_LEAST * len(sentences):
            raise ExportError(
                f"CTranslate2 translates only {same} of {len(sentences)} sentences as PyTorch "
                "does; give sentences of the kind that the model has learned (--sentences), in a "
                "speech level that it has learned (--style)"
            )
        if quantization != "float32":
            made = Path(work) / quantization
            texts = _exported_texts(checkpoint, made, quantization, sentences, style)
        os.replace(made, path)
    return ExportReport(
        sentences=len(sentences),
        same_in_float32=same,
        same=_agreeing(texts, expected),
        chrf=chrf(texts, expected),
    )


def _check(path: Path, quantization: str) -> None:
    """Before the work is done.  Raises ExportError or EvaluationError."""
    if path.exists():
        raise ExportError(f"{path}: exists already; choose another directory or remove it")
    if quantization not in QUANTIZATIONS:
        raise ExportError(
            f"unknown quantization {quantization!r}; choose from {', '.join(QUANTIZATIONS)}"
        )
    import_ctranslate2()
    check_available()


def _exported_texts(
    checkpoint: Checkpoint, path: Path, quantization: str, sentences: Sequence[str], style: str
) -> list[str]:
    """Writes a directory, opens it and translates with it."""
    _write(checkpoint, path, quantization)
    return _texts(Translator.from_pretrained(path), sentences, style)


def _texts(translator: Translator, sentences: Sequence[str], style: str) -> list[str]:
    options = replace(translator.config.decoding.asked(beam_size=1), precision="fp32")
    return [found.text for found in translator.translate(sentences, style, options=options)]


def _agreeing(texts: Sequence[str], expected: Sequence[str]) -> int:
    return sum(text == wanted for text, wanted in zip(texts, expected, strict=True))


def _write(checkpoint: Checkpoint, path: Path, quantization: str) -> None:
    """One directory, complete."""
    spec = _specification(checkpoint)
    spec.validate()
    spec.optimize(quantization=None if quantization == "float32" else quantization)
    path.mkdir()
    spec.save(str(path))
    (path / TOKENIZER).write_bytes(checkpoint.tokenizer.model)
    config = checkpoint.config
    decoding = replace(config.decoding, precision="fp32")  # the format is in the files now
    chosen = replace(config, decoding=decoding).to_dict()
    settings = yaml.safe_dump(chosen, allow_unicode=True, sort_keys=False)
    (path / SETTINGS).write_text(settings, encoding="utf-8")


def _specification(checkpoint: Checkpoint) -> Any:
    """The model in CTranslate2's own terms."""
    import_ctranslate2()
    from ctranslate2 import specs

    config, weights = checkpoint.config.model, _Weights(checkpoint.weights)
    spec = specs.TransformerSpec.from_config(
        (config.n_encoder_layers, config.n_decoder_layers),
        config.n_heads,
        pre_norm=config.norm_first,
        activation=specs.Activation.RELU,
    )
    table = weights.array("embedding.weight")
    positions = checkpoint.build_model().embedding.positions.numpy()
    for part, embeddings in (
        (spec.encoder, spec.encoder.embeddings[0]),
        (spec.decoder, spec.decoder.embeddings),
    ):
        embeddings.weight = table
        part.scale_embeddings = True
        part.position_encodings.encodings = positions
    spec.decoder.projection.weight = table
    for name, part in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        if config.norm_first:
            weights.norm(part.layer_norm, f"{name}.norm")
        for i, layer in enumerate(part.layer):
            _layer(weights, layer, f"{name}.layers.{i}")

    pieces = checkpoint.tokenizer.pieces(range(checkpoint.tokenizer.vocab_size))
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.unk_token = pieces[UNK_ID]
    spec.config.bos_token = pieces[BOS_ID]
    spec.config.eos_token = pieces[EOS_ID]
    spec.config.decoder_start_token = pieces[BOS_ID]
    return spec


def _layer(weights: "_Weights", layer: Any, name: str) -> None:
    """One encoder or decoder layer; only the latter has cross-attention."""
    own = layer.self_attention
    weights.linear(own.linear[0], *(f"{name}.self_attn.{part}" for part in ("w_q", "w_k", "w_v")))
    weights.linear(own.linear[1], f"{name}.self_attn.w_o")
    weights.norm(own.layer_norm, f"{name}.self_attn_norm.norm")
    if hasattr(layer, "attention"):
        cross = layer.attention
        weights.linear(cross.linear[0], f"{name}.cross_attn.w_q")
        weights.linear(cross.linear[1], f"{name}.cross_attn.w_k", f"{name}.cross_attn.w_v")
        weights.linear(cross.linear[2], f"{name}.cross_attn.w_o")
        weights.norm(cross.layer_norm, f"{name}.cross_attn_norm.norm")
    weights.linear(layer.ffn.linear_0, f"{name}.feed_forward.widen")
    weights.linear(layer.ffn.linear_1, f"{name}.feed_forward.narrow")
    weights.norm(layer.ffn.layer_norm, f"{name}.feed_forward_norm.norm")


class _Weights:
    """Copies named weights into a specification."""

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        self._weights = weights

    def array(self, *names: str) -> Any:
        """One weight, or several one above the other."""
        return torch.cat([self._weights[name].float() for name in names]).numpy()

    def linear(self, target: Any, *names: str) -> None:
        """Several that read the same input become one."""
        target.weight = self.array(*(f"{name}.weight" for name in names))
        target.bias = self.array(*(f"{name}.bias" for name in names))

    def norm(self, target: Any, name: str) -> None:
        target.gamma = self.array(f"{name}.weight")
        target.beta = self.array(f"{name}.bias")
