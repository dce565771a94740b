"""The lines of the corpus with their places, in the three parts that `data/` has."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from translator.levels import LEVELS
from translator.textfile import read_lines

PARTS: Final = ("handwritten", "heldout", "converted")


class Line(NamedTuple):
    """One line of a corpus file, with its place (file:number)."""

    place: str
    en: str
    ko: str
    level: str

    @property
    def complete(self) -> bool:
        """Whether it has three columns, the last of them a level."""
        return self.level in LEVELS

    @property
    def file(self) -> str:
        """The name of its file without folder and ending: "dev" for data/heldout/dev.tsv."""
        return Path(self.place.rpartition(":")[0]).stem


def read_corpus(paths: Iterable[str | Path]) -> Iterator[Line]:
    """Lines of corpus files; a line with the wrong number of columns has the level ""."""
    for path in paths:
        for number, raw in enumerate(read_lines(path), 1):
            columns = raw.split("\t")
            place = f"{path}:{number}"
            yield Line(place, *columns) if len(columns) == 3 else Line(place, raw, "", "")


def read_part(data: str | Path, part: str) -> list[Line]:
    """The committed lines of one of PARTS, its files in the order of their names."""
    return list(read_corpus(sorted((Path(data) / part).glob("*.tsv"))))


def corpus_parts(data: str | Path) -> dict[str, list[Line]]:
    """The committed lines of each part."""
    return {part: read_part(data, part) for part in PARTS}


def sentence_key(english: str) -> str:
    """Equal for sentences that differ only in case and punctuation."""
    text = unicodedata.normalize("NFKC", english).lower().replace("’", "'")
    return " ".join(re.sub(r"[^\w' ]+", " ", text).split())
