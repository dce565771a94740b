"""Every setting of a run: five frozen dataclasses, read from strict YAML.

Defaults live here and nowhere else. A key that does not exist, a value of the wrong type or outside
its range, and a key given twice are errors that name the file, the dotted key and what was
expected.
"""

import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml

from translator.errors import UserError

Section = TypeVar("Section")


class ConfigError(UserError, ValueError):
    """A setting is unknown, of the wrong type, out of range or given twice."""


def _number(default: float, *, low: float, high: float = math.inf) -> Any:
    """A numeric field whose value must lie in [low, high]."""
    return field(default=default, metadata={"low": low, "high": high})


class _Checked:
    """Checks the ranges of a section however it was made, from YAML or in Python."""

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            value, hint = getattr(self, item.name), hints[item.name]
            if typing.get_origin(hint) in {Literal, tuple}:
                _convert(value, hint, item.name)
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
    max_len: int = _number(256, low=4, high=65_536)  # positions, special tokens included

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

    vocab_size: int = _number(
        8000, low=1, high=1_000_000
    )  # a ceiling: a small corpus gives fewer pieces
    model_type: Literal["unigram", "bpe"] = "unigram"
    byte_fallback: bool = (
        True  # unseen characters are spelled in UTF-8 bytes instead of becoming unknown
    )
    character_coverage: float = _number(1.0, low=0.98, high=1.0)


@dataclass(frozen=True, kw_only=True)
class DataConfig(_Checked):
    """Which pairs to learn from. Paths are relative to the working directory.

    An entry is a TSV file (English, tab, Korean, optionally tab, speech level), a pattern such as
    `data/*.tsv`, or two line-aligned files written `corpus.{en,ko}`.
    """

    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    dev_size: int = _number(0, low=0)  # English sentences held out of `train` when `dev` is empty
    noise: float = _number(0.0, low=0.0, high=1.0)  # share of pairs with a copy typed carelessly
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dev and self.dev_size:
            raise ConfigError("dev_size: has no effect beside dev; keep one of the two")


@dataclass(frozen=True, kw_only=True)
class TrainConfig(_Checked):
    """The training run: where it writes, how long it lasts, how it steps."""

    run_dir: str = "runs/default"
    seed: int = _number(0, low=0, high=2**31 - 1)
    max_steps: int = _number(10_000, low=1)  # optimizer steps in total, resumed parts included
    max_tokens: int = _number(4096, low=8)  # rows × longest sentence of a batch never exceed this
    accumulate: int = _number(1, low=1)  # batches per optimizer step
    lr: float = _number(1e-3, low=0.0)  # the peak, reached exactly at warmup_steps
    warmup_steps: int = _number(400, low=0)
    schedule: Literal["cosine", "inverse_sqrt"] = "cosine"
    weight_decay: float = _number(0.01, low=0.0)
    label_smoothing: float = _number(0.1, low=0.0, high=0.9)
    clip_norm: float = _number(1.0, low=0.0)  # 0 switches clipping off
    precision: Literal["fp32", "bf16"] = "fp32"
    log_every: int = _number(50, low=1)
    validate_every: int = _number(500, low=1)
    n_samples: int = _number(3, low=0)  # sentences (of dev, else of train) translated each time


@dataclass(frozen=True, kw_only=True)
class DecodingConfig(_Checked):
    """The search: at most length_factor · S + length_margin tokens, and never above max_len."""

    length_factor: float = _number(2.0, low=0.0, high=100.0)
    length_margin: int = _number(20, low=1, high=65_536)
    batch_size: int = _number(32, low=1)  # sentences translated side by side
    too_long: Literal["cut", "error"] = "cut"  # a source above max_len: cut with a warning, or stop


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
        tree = _read_yaml(Path(path))
        config = cls.from_dict(tree, source=str(path))
        return config.override(overrides) if overrides else config

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], source: str = "config") -> "Config":
        """Builds the five sections from plain nested values.  Raises ConfigError."""
        return _build(cls, tree, source, prefix="")

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
                raise ConfigError(_unknown(source, section, set(sections)))
            hints = typing.get_type_hints(sections[section])
            if key not in hints:
                raise ConfigError(_unknown(source, key, set(hints), f"{section}."))
            try:
                value = yaml.load(text, Loader=_StrictLoader)
            except (yaml.YAMLError, *_UNREADABLE):
                raise ConfigError(f"{source}: the value cannot be read; quote it") from None
            tree[section][key] = _setting(value, hints[key], f"{source}: {dotted.strip()}")
        return self.from_dict(tree, source=" ".join(f"--set {item}" for item in assignments))

    def to_dict(self) -> dict[str, Any]:
        """The sections as plain values (lists for tuples) that YAML and checkpoints can hold."""
        tree = dataclasses.asdict(self)
        return {
            section: {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
            for section, values in tree.items()
        }


class _StrictLoader(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice in one mapping (merge keys `<<` stay allowed)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        first_line: dict[Hashable, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge" or not isinstance(
                key_node, yaml.ScalarNode
            ):
                continue
            line = key_node.start_mark.line + 1
            if key_node.value in first_line:
                raise _DuplicateKey(key_node.value, first_line[key_node.value], line)
            first_line[key_node.value] = line
        return super().construct_mapping(node, deep)


_UNREADABLE = (ValueError, KeyError, AttributeError, RecursionError, OverflowError)
"""What PyYAML lets through for values such as 2020-13-45, !!int "abc" or nesting without end."""


class _DuplicateKey(yaml.YAMLError):
    def __init__(self, key: str, first: int, second: int) -> None:
        super().__init__(f"key {key!r} is given twice, in lines {first} and {second}; keep one")


def _read_yaml(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such config file (working directory: {Path.cwd()})"
        ) from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8"
        ) from None
    try:
        tree = yaml.load(text, Loader=_StrictLoader)
    except _DuplicateKey as error:
        raise ConfigError(f"{path}: {error}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}: line {line}: not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    except _UNREADABLE as error:
        raise ConfigError(f"{path}: a value cannot be read ({error}); quote it") from None
    return {} if tree is None else tree


def _unknown(source: str, key: str, known: set[str], prefix: str = "") -> str:
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = (
        f"did you mean {prefix}{close[0]}?" if close else f"known keys: {', '.join(sorted(known))}"
    )
    return f"{source}: unknown key {prefix}{key}; {hint}"


def _build(section: type[Section], tree: Any, source: str, prefix: str) -> Section:
    """One dataclass from one mapping, each value converted by the type of its field."""
    place = prefix.rstrip(".") or "the file"
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{source}: {place}: expected keys and values, got {_shown(tree)}")
    hints = typing.get_type_hints(section)
    values = {}
    for key, value in tree.items():
        if key not in hints:
            raise ConfigError(_unknown(source, str(key), set(hints), prefix))
        if dataclasses.is_dataclass(hints[key]):
            nested = {} if value is None else value
            values[key] = _build(hints[key], nested, source, f"{prefix}{key}.")
        else:
            values[key] = _setting(value, hints[key], f"{source}: {prefix}{key}")
    try:
        return section(**values)
    except ConfigError as error:
        raise ConfigError(f"{source}: {prefix}{error}") from None


def _setting(value: Any, wanted: Any, place: str) -> Any:
    """The value of a key as the type of its field; one text serves where a list is wanted."""
    listed = [value] if typing.get_origin(wanted) is tuple and isinstance(value, str) else value
    return _convert(listed, wanted, place)


def _convert(value: Any, wanted: Any, place: str) -> Any:
    """The value as the wanted type; YAML reads 1e-4 as text and `no` as False, so both are looked
    at again here.
    """
    if typing.get_origin(wanted) is Literal:
        choices = typing.get_args(wanted)
        if value in choices:
            return value
        raise ConfigError(
            f"{place}: expected one of {', '.join(map(str, choices))}, got {_shown(value)}"
        )
    if typing.get_origin(wanted) is tuple:
        items = value
        if isinstance(items, list | tuple) and all(isinstance(item, str) for item in items):
            return tuple(items)
        raise ConfigError(f"{place}: expected a list of texts, got {_shown(value)}")
    if wanted is float or wanted is int:
        return _convert_number(value, wanted, place)
    if isinstance(value, wanted):
        return value
    names = {bool: "true or false", str: "text"}
    hint = (
        "; quote it, YAML reads yes, no, on and off as true or false"
        if isinstance(value, bool)
        else ""
    )
    raise ConfigError(f"{place}: expected {names[wanted]}, got {_shown(value)}{hint}")


def _convert_number(value: Any, wanted: type, place: str) -> float:
    number = value
    if isinstance(value, str):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = None
    if isinstance(number, int) and abs(number) > 1e300:
        number = None
    whole = isinstance(number, int | float) and math.isfinite(number) and number == int(number)
    if isinstance(number, bool) or not isinstance(number, int | float):
        pass
    elif wanted is int and whole:
        return int(number)
    elif wanted is float and math.isfinite(number):
        return float(number)
    expected = "a whole number" if wanted is int else "a number"
    raise ConfigError(f"{place}: expected {expected}, got {_shown(value)}")


def _shown(value: Any) -> str:
    kind = "nothing" if isinstance(value, types.NoneType) else repr(value)
    return kind if len(kind) <= 60 else kind[:57] + "..."
