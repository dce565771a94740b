"""Every setting of a run: five frozen dataclasses, read from strict YAML.

Defaults live here and nowhere else.
"""

import dataclasses
import math
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from translator.strict import (
    ConfigError,
    build,
    convert,
    read_value,
    read_yaml,
    setting,
    unknown_key,
)

__all__ = [
    "Config",
    "ConfigError",
    "DataConfig",
    "DecodingConfig",
    "ModelConfig",
    "TokenizerConfig",
    "TrainConfig",
]


def _number(default: float, *, low: float, high: float = math.inf) -> Any:
    """A numeric field whose value must lie in [low, high]."""
    return field(default=default, metadata={"low": low, "high": high})


_ACCEPTED: Mapping[type, set[type]] = {int: {int}, float: {float, int}, bool: {bool}, str: {str}}
"""What Python code may give a field of a type; YAML has been converted before."""


class _Checked:
    """Checks types and ranges of a section however it was made, from YAML or in Python."""

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            value, hint = getattr(self, item.name), hints[item.name]
            converted = convert(value, hint, item.name)
            if typing.get_origin(hint) is None and type(value) not in _ACCEPTED[hint]:
                raise ConfigError(f"{item.name}: expected {converted!r}, got {value!r}")
            low, high = item.metadata.get("low"), item.metadata.get("high")
            if low is not None and high is not None and not low <= value <= high:
                wanted = f"at least {low}" if high == math.inf else f"between {low} and {high}"
                raise ConfigError(f"{item.name}: expected a number {wanted}, got {value}")


@dataclass(frozen=True, kw_only=True)
class ModelConfig(_Checked):
    """Size and shape of the Transformer. The vocabulary size is the tokenizer's and is not repeated
    here.
    """

    d_model: int = _number(256, low=2, high=16_384)
    n_heads: int = _number(4, low=1, high=1024)
    n_encoder_layers: int = _number(3, low=1, high=100)
    n_decoder_layers: int = _number(3, low=1, high=100)
    d_ff: int = _number(1024, low=1, high=65_536)
    dropout: float = _number(0.1, low=0.0, high=0.9)
    norm_first: bool = True  # False is the order of the paper's figure
    max_len: int = _number(256, low=4, high=16_384)  # positions, special tokens included

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d_model % self.n_heads:
            raise ConfigError(
                f"d_model: {self.d_model} cannot be split over n_heads = {self.n_heads}"
            )
        if self.d_model % 2:
            raise ConfigError(
                f"d_model: expected an even number (sine and cosine pairs), got {self.d_model}"
            )


@dataclass(frozen=True, kw_only=True)
class TokenizerConfig(_Checked):
    """How the joint English-Korean SentencePiece vocabulary is trained."""

    # a ceiling: a small corpus gives fewer pieces
    vocab_size: int = _number(8000, low=1, high=1_000_000)
    model_type: Literal["unigram", "bpe"] = "unigram"
    # unseen characters are spelled in UTF-8 bytes instead of becoming unknown
    byte_fallback: bool = True
    character_coverage: float = _number(1.0, low=0.98, high=1.0)
    # of a larger corpus, so many drawn at random teach the vocabulary
    max_sentences: int = _number(200_000, low=1, high=10_000_000)


@dataclass(frozen=True, kw_only=True)
class DataConfig(_Checked):
    """Which pairs to learn from. Paths are relative to the working directory.

    An entry is a TSV file (English, tab, Korean, optionally tab, speech level), a pattern such as
    `data/*.tsv`, or two line-aligned files written `corpus.{en,ko}`.
    """

    train: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()  # one for each entry of `train`: how often an epoch sees a pair
    dev: tuple[str, ...] = ()
    dev_size: int = _number(0, low=0)  # English sentences held out of `train` when `dev` is empty
    noise: float = _number(0.0, low=0.0, high=1.0)  # share of pairs with a copy typed carelessly
    resplit: float = _number(0.0, low=0.0, high=0.9)  # share of pieces split anew at each sight
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dev and self.dev_size:
            raise ConfigError("dev_size: has no effect beside dev; keep one of them (dev_size=0)")
        if self.weights and len(self.weights) != len(self.train):
            raise ConfigError(
                f"weights: {len(self.weights)} for {len(self.train)} entries of data.train; "
                "give each its own"
            )
        if not all(0 < weight <= 1000 for weight in self.weights):
            raise ConfigError(
                f"weights: expected numbers above 0 and up to 1000, got "
                f"{', '.join(map(str, self.weights))}"
            )


@dataclass(frozen=True, kw_only=True)
class TrainConfig(_Checked):
    """The training run: where it writes, how long it lasts, how it steps."""

    run_dir: str = "runs/default"
    init_from: str = ""  # begin with the weights and vocabulary of this checkpoint; or "pretrained"
    seed: int = _number(0, low=0, high=2**31 - 1)
    max_steps: int = _number(10_000, low=1)  # optimizer steps in total, resumed parts included
    max_tokens: int = _number(4096, low=8)  # rows × longest side of a batch never exceed this
    accumulate: int = _number(1, low=1)  # batches per optimizer step
    optimizer: Literal["adamw", "muon"] = "adamw"  # muon learns more per step, see muon.py
    lr: float = _number(1e-3, low=0.0)  # the peak, reached exactly at warmup_steps
    warmup_steps: int = _number(400, low=0)
    schedule: Literal["cosine", "inverse_sqrt"] = "cosine"
    weight_decay: float = _number(0.01, low=0.0)
    label_smoothing: float = _number(0.1, low=0.0, high=0.9)
    clip_norm: float = _number(1.0, low=0.0)  # 0 switches clipping off
    device: str = "auto"  # cpu, cuda, cuda:1, mps; auto is cuda where there is one, else cpu
    precision: Literal["auto", "fp32", "bf16", "fp16"] = "auto"  # auto: bf16 where it is fast
    compile: bool = False  # torch.compile: a minute or more at the start; meant for GPUs
    log_every: int = _number(50, low=1)
    validate_every: int = _number(500, low=1)
    save_every: int = _number(0, low=0)  # steps between saves that do not wait for validation
    judge: Literal["nll", "chrf"] = "nll"  # what on dev decides which checkpoint is best
    patience: int = _number(0, low=0)  # stop after so many validations without a better one; 0 off
    average: int = _number(0, low=0, high=100)  # checkpoints averaged at the end; 0 off
    average_of: Literal["last", "best"] = "last"
    tensorboard: bool = False  # also write run_dir/tensorboard (needs the extra 'tensorboard')
    n_samples: int = _number(3, low=0)  # sentences (of dev, else of train) translated each time

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.run_dir.strip():
            raise ConfigError("run_dir: name a folder for the run")


@dataclass(frozen=True, kw_only=True)
class DecodingConfig(_Checked):
    """The search: at most length_factor · S + length_margin tokens, and never above max_len."""

    beam_size: int = _number(1, low=1, high=100)  # hypotheses followed at a time; 1 is greedy
    n_best: int = _number(1, low=1, high=100)  # translations of each sentence, at most beam_size
    length_penalty: float = _number(0.6, low=0.0, high=10.0)  # 0 prefers short translations
    no_repeat_ngram: int = _number(0, low=0, high=100)  # no run of so many tokens twice; 0 off
    min_tokens: int = _number(0, low=0, high=65_536)
    length_factor: float = _number(2.0, low=0.0, high=100.0)
    length_margin: int = _number(20, low=1, high=65_536)
    batch_size: int = _number(32, low=1)  # sentences translated side by side
    precision: Literal["fp32", "bf16", "int8"] = "fp32"  # of the products on a CPU, see compact.py
    too_long: Literal["split", "cut", "error"] = "split"  # a source above max_len, see documents.py
    split_above: int = _number(0, low=0)  # split longer sentences too, in pieces; 0 is max_len

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_best > self.beam_size:
            raise ConfigError(
                f"n_best: {self.n_best} translations need a beam_size of as many, "
                f"not {self.beam_size}"
            )

    def asked(self, beam_size: int | None = None, n_best: int = 1) -> "DecodingConfig":
        """The same search for `n_best` translations of each sentence; a beam that is not given
        grows to hold them.  Raises ConfigError.
        """
        if beam_size is None:
            beam_size = max(self.beam_size, n_best)
        return dataclasses.replace(self, beam_size=beam_size, n_best=n_best)

    def without_effect(self) -> list[str]:
        """What was set and does nothing, in plain words."""
        if self.beam_size == 1 and self.length_penalty != DecodingConfig.length_penalty:
            return ["decoding.length_penalty has no effect in greedy search; raise beam_size"]
        return []


@dataclass(frozen=True, kw_only=True)
class Config:
    """Everything that defines a run; the resolved copy travels inside the checkpoint."""

    model: ModelConfig = field(default_factory=ModelConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    data: DataConfig = field(default_factory=DataConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)

    @classmethod
    def from_yaml(cls, path: str | Path, overrides: Sequence[str] = ()) -> "Config":
        """Reads a YAML file and applies overrides such as "train.lr=1e-4".  Raises ConfigError."""
        tree = read_yaml(Path(path))
        config = cls.from_dict(tree, source=str(path))
        return config.override(overrides) if overrides else config

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], source: str = "config") -> "Config":
        """Builds the five sections from plain nested values.  Raises ConfigError."""
        return build(cls, tree, source, prefix="")

    def without_effect(self) -> list[str]:
        """What was set and does nothing, in plain words."""
        train, default = self.train, TrainConfig()
        notes = self.decoding.without_effect()
        if not self.data.dev and not self.data.dev_size:
            notes += [
                f"train.{key} has no effect without data.dev or data.dev_size"
                for key in ("patience", "judge", "average_of")
                if getattr(train, key) != getattr(default, key)
            ]
        elif train.average_of != default.average_of and not train.average:
            notes.append("train.average_of has no effect without train.average")
        if train.warmup_steps >= train.max_steps:
            peak = "falls from" if train.warmup_steps == train.max_steps else "reaches"
            notes.append(
                f"train.warmup_steps: {train.warmup_steps} of {train.max_steps} steps, so the rate "
                f"never {peak} its peak train.lr"
            )
        return notes

    def override(self, assignments: Sequence[str]) -> "Config":
        """A copy with values replaced, each written "section.key=value".  Raises ConfigError."""
        tree = self.to_dict()
        sections = typing.get_type_hints(Config)
        for assignment in assignments:
            source = f"--set {assignment}"
            dotted, equals, text = assignment.partition("=")
            section, dot, key = dotted.strip().partition(".")
            if not (equals and dot and key):
                raise ConfigError(f'{source}: write it as section.key=value, as in "train.lr=1e-3"')
            if section not in sections:
                raise ConfigError(unknown_key(source, section, set(sections)))
            hints = typing.get_type_hints(sections[section])
            if key not in hints:
                raise ConfigError(unknown_key(source, key, set(hints), f"{section}."))
            value = read_value(text, source)
            tree[section][key] = setting(value, hints[key], f"{source}: {dotted.strip()}")
        return self.from_dict(tree, source=" ".join(f"--set {item}" for item in assignments))

    def to_dict(self) -> dict[str, Any]:
        """The sections as plain values (lists for tuples) that YAML and checkpoints can hold."""
        tree = dataclasses.asdict(self)
        return {
            section: {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
            for section, values in tree.items()
        }
