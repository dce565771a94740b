"""Strict reading of settings: YAML in which every key counts, values converted by the type of
their field.

A key that does not exist, a value of the wrong type, and a key given twice are errors that name the
file, the dotted key and what was expected.
"""

import dataclasses
import difflib
import math
import re
import reprlib
import typing
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import yaml

from translator.errors import UserError

Section = TypeVar("Section")


class ConfigError(UserError, ValueError):
    """A setting is unknown, of the wrong type, out of range or given twice."""


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


_BRIEF: Final = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 200
_BRIEF.maxlevel = 2

_UNREADABLE = (ValueError, KeyError, IndexError, AttributeError, RecursionError, OverflowError)
"""What PyYAML lets through for values such as 2020-13-45, !!int "abc" or nesting without end."""


class _DuplicateKey(yaml.YAMLError):
    def __init__(self, key: str, first: int, second: int) -> None:
        super().__init__(f"key {key!r} is given twice, in lines {first} and {second}; keep one")


def read_yaml(path: Path) -> Mapping[str, Any]:
    """The tree in a YAML file; nothing in it is an empty tree.  Raises ConfigError."""
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
        problem = str(error.problem)
        hint = "; is it indented as the lines above?" if "mapping values" in problem else ""
        raise ConfigError(f"{path}: line {line}: not valid YAML: {problem}{hint}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    except _UNREADABLE as error:
        raise ConfigError(f"{path}: a value cannot be read ({error}); quote it") from None
    return {} if tree is None else tree


def read_value(text: str, source: str) -> Any:
    """The value behind `--set key=`, read like a value in YAML.  Raises ConfigError."""
    try:
        return yaml.load(text, Loader=_StrictLoader)
    except (yaml.YAMLError, *_UNREADABLE):
        raise ConfigError(f"{source}: the value cannot be read; quote it") from None


def unknown_key(source: str, key: str, known: set[str], prefix: str = "") -> str:
    """What to say about a key that does not exist: the nearest valid one, or all that do."""
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = (
        f"did you mean {prefix}{close[0]}?" if close else f"known keys: {', '.join(sorted(known))}"
    )
    return f"{source}: unknown key {prefix}{key}; {hint}"


def build(section: type[Section], tree: Any, source: str, prefix: str) -> Section:
    """One dataclass from one mapping, each value converted by the type of its field.

    Raises ConfigError.
    """
    place = prefix.rstrip(".") or "the file"
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{source}: {place}: expected keys and values, got {_shown(tree)}")
    hints = typing.get_type_hints(section)
    values = {}
    for key, value in tree.items():
        if key not in hints:
            raise ConfigError(unknown_key(source, str(key), set(hints), prefix))
        if dataclasses.is_dataclass(hints[key]):
            nested = {} if value is None else value
            values[key] = build(hints[key], nested, source, f"{prefix}{key}.")
        else:
            values[key] = setting(value, hints[key], f"{source}: {prefix}{key}")
    try:
        return section(**values)
    except ConfigError as error:
        raise ConfigError(f"{source}: {prefix}{error}") from None


def setting(value: Any, wanted: Any, place: str) -> Any:
    """The value of a key as the type of its field; one entry serves where a list is wanted.

    Raises ConfigError.
    """
    alone = isinstance(value, str | int | float) and not isinstance(value, bool)
    listed = [value] if typing.get_origin(wanted) is tuple and alone else value
    return convert(listed, wanted, place)


def convert(value: Any, wanted: Any, place: str) -> Any:
    """The value as the wanted type; YAML reads 1e-4 as text and `no` as False, so both are looked
    at again here.  Raises ConfigError.
    """
    if typing.get_origin(wanted) is Literal:
        choices = typing.get_args(wanted)
        if value in choices:
            return value
        raise ConfigError(
            f"{place}: expected one of {', '.join(map(str, choices))}, got {_shown(value)}"
        )
    if typing.get_origin(wanted) is tuple:
        [of, _] = typing.get_args(wanted)
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{place}: expected a list, got {_shown(value)}")
        return tuple(convert(item, of, f"{place}, entry {n}") for n, item in enumerate(value, 1))
    if wanted is float or wanted is int:
        return _number(value, wanted, place)
    if isinstance(value, wanted):
        if isinstance(value, str) and re.search("[\0\ud800-\udfff]", value):  # in no file's name
            raise ConfigError(f"{place}: a NUL or half a character stands in it")
        return value
    names = {bool: "true or false", str: "text"}
    hint = (
        "; quote it, YAML reads yes, no, on and off as true or false"
        if isinstance(value, bool)
        else ""
    )
    raise ConfigError(f"{place}: expected {names[wanted]}, got {_shown(value)}{hint}")


def _number(value: Any, wanted: type, place: str) -> float:
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
    """The beginning of a value; aliases in YAML can make one that as a whole is far too large."""
    if value is None:
        return "nothing"
    if isinstance(value, int) and abs(value) > 10**1000:
        return "a number of thousands of digits"
    try:
        text = _BRIEF.repr(value)
    except ValueError:  # such a number somewhere in it
        return "a value that is too large"
    return text if len(text) <= 60 else text[:57] + "..."
