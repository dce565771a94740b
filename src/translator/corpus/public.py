"""Public English-Korean text to train on besides `data/`: where it is, and how it is read.

None of its sentences stand in this project; `translator fetch` gets them from their publishers.
"""

import hashlib
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from translator.errors import UserError
from translator.heldout import near_duplicate_key
from translator.pairs import Pair, Report
from translator.textfile import read_lines, without_end
from translator.tokenizer import normalize

MOST_BYTES: Final = 1 << 25  # of one text in an archive; the real ones have a few million
_DAMAGE: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError),
    *(RuntimeError, KeyError, ValueError),
)
"""What Python raises for a wrong byte, a lost end, a password, another method, other content."""


class PublicDataError(UserError):
    """An archive is not what it should be."""


class Row(NamedTuple):
    """One row of an archive, with its place in it (file:number)."""

    place: str
    english: str
    korean: str


@dataclass(frozen=True, kw_only=True)
class Source:
    """One publisher's text.

    Args:
        url: of a zip archive; the publisher may replace it by a later one
        read: the rows of an archive; those that cannot be read go into the report
        pairs: how many there were when this project counted them, dev sentences included
    """

    name: str
    url: str
    licence: str
    credit: str
    read: Callable[[zipfile.ZipFile, Report], Iterator[Row]]
    pairs: int


class Parts(NamedTuple):
    """What an archive gave, how many pairs are to stay unseen, and what was dropped and why."""

    train: list[Pair]
    dev: list[Pair]
    removed: int
    report: Report


def parts_of(source: Source, archive: Path, unseen: Set[str] = frozenset()) -> Parts:
    """Reads, cleans and splits an archive.

    Args:
        unseen: keys (`keys_of`) of sentences that must not be learned from

    Raises:
        PublicDataError: the file is damaged, or no such archive.
    """
    dev_keys = _dev_keys()
    train, dev, removed, report = [], [], 0, Report()
    seen: set[Pair] = set()
    for row in _rows(source, archive, report):
        pair = Pair(normalize(row.english), normalize(row.korean), "")
        problem = "a pair given twice" if pair in seen else _problem(pair)
        if problem:
            report.drop(problem, row.place)
            continue
        seen.add(pair)
        if keys_of([pair.src, pair.tgt]) & unseen:
            removed += 1
        elif _hash(pair.src) in dev_keys:
            dev.append(pair)
        else:
            train.append(pair)
    if not seen:
        raise PublicDataError(f"{archive}: no English-Korean pair in it")
    report.kept = len(train) + len(dev)
    return Parts(train, dev, removed, report)


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


def _rows(source: Source, archive: Path, report: Report) -> list[Row]:
    with open(archive, "rb") as raw:
        try:
            with zipfile.ZipFile(raw) as file:
                return list(source.read(file, report))
        except _DAMAGE as error:
            problem = str(error).strip("\"'") or type(error).__name__
            raise PublicDataError(
                f"{archive}: damaged, or not the archive of {source.name} ({problem}); delete it, "
                f"and translator fetch --only {source.name} gets it again"
            ) from None


def _problem(pair: Pair) -> str:
    """Why a pair is not English and Korean; empty when it is."""
    if not pair.src:
        return "empty English side"
    if not any("가" <= c <= "힣" for c in pair.tgt):  # ㅋㅋ is no sentence
        return "no Hangul on the Korean side"
    return ""


def _read_tatoeba(archive: zipfile.ZipFile, report: Report) -> Iterator[Row]:
    """kor.txt: English, tab, Korean, tab, who wrote it."""
    for place, line in _lines(archive, "kor.txt"):
        columns = line.split("\t")
        if len(columns) >= 2:
            yield Row(place, columns[0], columns[1])
        else:
            report.drop("no tab between English and Korean", place)


def _read_turns(archive: zipfile.ZipFile, report: Report) -> Iterator[Row]:
    """JSON lines with a conversation and its translation, one turn in each line of the text; turns
    are put side by side where both have the same number.
    """
    for name in archive.namelist():
        if not name.endswith(".jsonl"):
            continue
        for place, line in _lines(archive, name):
            conversation = json.loads(line)
            english = _turns(conversation, "humanTranslation")
            korean = _turns(conversation, "source")
            if not english or len(english) != len(korean):
                report.drop("a conversation that is not translated turn by turn", place)
                continue
            for en, ko in zip(english, korean, strict=True):
                yield Row(place, en, ko)


def _lines(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[str, str]]:
    """(place, line) of a text in an archive, without the blank ones."""
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise ValueError(f"{name} is larger than it can be")
    with archive.open(name) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", newline="\n")
        for number, line in enumerate(text, 1):
            if line.strip():
                yield f"{name}:{number}", without_end(line)


def _turns(conversation: object, key: str) -> list[str]:
    """The turns of one side of a conversation; none where that side is missing."""
    text = conversation.get(key) if isinstance(conversation, dict) else None
    lines = text.split("\n") if isinstance(text, str) else []
    return [turn for line in lines if (turn := _bare(line))]


def _bare(turn: str) -> str:
    """Without the speaker ("P1: ") and the marks (<b>, </b>) around what the row is about."""
    unmarked = re.sub(r"</?[a-z]+>", "", turn)
    return re.sub(r"^\s*[^\W\d_]\w?\s*:\s*", "", unmarked).strip()


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
