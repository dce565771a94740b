"""Public English-Korean text that the shipped model also learned from: where it is, how it is read.

None of its sentences stand in this project; `translator fetch` gets them from their publishers.
"""

import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from translator.errors import UserError
from translator.pairs import Pair, near_duplicate_key, read_lines
from translator.romanization import has_hangul
from translator.tokenizer import normalize


class PublicDataError(UserError):
    """An archive is not what it should be."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """One publisher's text.

    Args:
        url: of a zip archive; the publisher may replace it by a later one
        read: archive -> English, Korean
        pairs: how many there were when the shipped model was trained, dev sentences included
    """

    name: str
    url: str
    licence: str
    credit: str
    read: Callable[[zipfile.ZipFile], Iterator[tuple[str, str]]]
    pairs: int


class Parts(NamedTuple):
    """What an archive gave, and how many sentences were left out because they are to be unseen."""

    train: list[Pair]
    dev: list[Pair]
    removed: int


def parts_of(source: Source, archive: Path, unseen: Set[str] = frozenset()) -> Parts:
    """Reads, cleans and splits an archive.

    Args:
        unseen: keys (`keys_of`) of sentences that must not be learned from

    Raises:
        PublicDataError: the file is no such archive.
    """
    dev_keys = _dev_keys()
    train, dev, removed = [], [], 0
    seen: set[tuple[str, str]] = set()
    try:
        with zipfile.ZipFile(archive) as file:
            rows = list(source.read(file))
    except (zipfile.BadZipFile, UnicodeDecodeError, KeyError, csv.Error) as error:
        raise PublicDataError(f"{archive}: not the archive of {source.name}: {error}") from None
    for english, korean in rows:
        pair = Pair(normalize(english), normalize(korean), "")
        if not pair.src or not has_hangul(pair.tgt) or (pair.src, pair.tgt) in seen:
            continue
        seen.add((pair.src, pair.tgt))
        if keys_of([pair.src, pair.tgt]) & unseen:
            removed += 1
        elif _hash(pair.src) in dev_keys:
            dev.append(pair)
        else:
            train.append(pair)
    if not seen:
        raise PublicDataError(f"{archive}: no English-Korean pair in it")
    return Parts(train, dev, removed)


def unseen_sentences(paths: Sequence[str | Path]) -> set[str]:
    """The keys of every sentence, English or Korean, in any column of some files.

    Raises:
        DataError: a file cannot be read.
    """
    cells = (cell for path in paths for line in read_lines(path) for cell in line.split("\t"))
    return {key for key in keys_of(cells) if key}


def keys_of(sentences: Iterable[str]) -> set[str]:
    """What sentences are compared by: not case, punctuation, spacing or digits."""
    return {near_duplicate_key(sentence) for sentence in sentences}


def _read_tatoeba(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """kor.txt: English, tab, Korean, tab, who wrote it."""
    for line in archive.read("kor.txt").decode("utf-8-sig").split("\n"):
        columns = line.rstrip("\r").split("\t")
        if len(columns) >= 2:
            yield columns[0], columns[1]


def _read_turns(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Tables with a Korean and an English column of several turns each, which are put side by side
    where both have as many.

    The publisher's tables were not at hand when this was written; columns are found by their
    letters.
    """
    for name in archive.namelist():
        if not name.lower().endswith(".csv"):
            continue
        for row in csv.reader(io.StringIO(archive.read(name).decode("utf-8-sig"))):
            korean = max((cell for cell in row if has_hangul(cell)), key=len, default="")
            english = max((c for c in row if c.isascii() and " " in c), key=len, default="")
            turns = [list(map(_bare, cell.split("\n"))) for cell in (english, korean)]
            if len(turns[0]) == len(turns[1]):
                yield from zip(*turns, strict=True)


def _bare(turn: str) -> str:
    """Without the speaker ("A: ", "가: ") and the marks around what a table is about."""
    return (
        re.sub(r"^\s*\w{1,2}\s*:\s*", "", turn).replace("*", "").replace("<", "").replace(">", "")
    )


def _dev_keys() -> frozenset[str]:
    """Hashes of the English sentences that are kept for development."""
    text = files("translator.corpus").joinpath("public-dev.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def _hash(english: str) -> str:
    return hashlib.sha256(near_duplicate_key(english).encode()).hexdigest()[:16]


SOURCES: Final = (
    Source(
        name="tatoeba",
        url="https://www.manythings.org/anki/kor-eng.zip",
        licence="CC BY 2.0 FR",
        credit="Tatoeba (https://tatoeba.org), pairs as published by https://www.manythings.org/anki",
        read=_read_tatoeba,
        pairs=4_681,
    ),
    Source(
        name="ncsoft",
        url="https://github.com/minseye/korean-english-context-aware-translation-dataset/"
        "archive/refs/heads/main.zip",
        licence="CC BY 4.0",
        credit="NCSOFT Korean-English Context-Aware Translation Challenge Dataset "
        "(Lee, Noh and Lee, COLING 2025)",
        read=_read_turns,
        pairs=1_715,
    ),
)
