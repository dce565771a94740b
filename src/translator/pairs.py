"""From files to sentence pairs: read, repair what is harmless, drop what is broken and say so.

Nothing is dropped in silence: every reader and filter writes into a `Report` which pairs went, why,
and where the first was.
"""

import glob
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from translator.hangul import has_hangul
from translator.levels import LEVELS, line_level
from translator.textfile import DataError, read_lines
from translator.tokenizer import normalize


class Pair(NamedTuple):
    """One English sentence, its Korean, and the speech level of the Korean."""

    src: str
    tgt: str
    level: str


@dataclass
class Report:
    """What was kept and what was dropped, by reason, with the first place of each; and how much of
    what was kept looks as if the columns were swapped.
    """

    kept: int = 0
    odd: int = 0
    first_odd: str = ""
    dropped: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def drop(self, reason: str, place: str) -> None:
        """Counts one dropped pair."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1
        self.first.setdefault(reason, place)

    def keep(self, pair: Pair, place: str) -> None:
        """Counts one pair that is used."""
        self.kept += 1
        if has_hangul(pair.src) or not has_hangul(pair.tgt):
            self.odd += 1
            self.first_odd = self.first_odd or place

    def lines(self) -> list[str]:
        """One line for each reason: "3 pairs dropped: empty Korean side (first: mine.tsv:12)"; and
        one if more than one pair in twenty is odd.
        """
        found = [
            f"{count} pair{'s' * (count != 1)} dropped: {reason} (first: {self.first[reason]})"
            for reason, count in self.dropped.items()
        ]
        if 20 * self.odd > self.kept:
            found.append(
                f"{self.odd} of {self.kept} pairs have Hangul in the English or none in the Korean "
                f"(first: {self.first_odd}); are the columns swapped?"
            )
        return found


def read_pairs(entries: Sequence[str], report: Report, encoding: str = "utf-8") -> Iterator[Pair]:
    """Pairs from TSV files, patterns and `{en,ko}` file pairs, in order. Bad rows are dropped and
    reported.

    Raises:
        DataError: a file is missing or undecodable, or two aligned files differ in length.
    """
    for entry in entries:
        aligned = "{" in entry
        rows = _aligned_rows(entry, encoding) if aligned else _tsv_rows(entry, encoding, report)
        for row in rows:
            pair = Pair(normalize(row.src), normalize(row.tgt), row.level)
            if not pair.src or not pair.tgt:
                side = "Korean" if pair.src else "English"
                report.drop(f"empty {side} side", row.place)
                continue
            report.keep(pair, row.place)
            yield pair if pair.level else pair._replace(level=line_level(pair.tgt))


class _Row(NamedTuple):
    place: str
    src: str
    tgt: str
    level: str


def _tsv_rows(pattern: str, encoding: str, report: Report) -> Iterator[_Row]:
    for path in files_of(pattern):
        for number, line in enumerate(read_lines(path, encoding), 1):
            place, columns = f"{path}:{number}", [part.strip() for part in line.split("\t")]
            problem = _row_problem(columns)
            if not problem:
                level = columns[2].lower() if len(columns) == 3 else ""
                yield _Row(place, columns[0], columns[1], level)
            elif line.strip():
                report.drop(problem, place)


def _row_problem(columns: Sequence[str]) -> str:
    """Why a row is not English, tab, Korean, and perhaps tab, level; empty when it is."""
    if len(columns) == 1:
        return "no tab between English and Korean"
    if len(columns) > 3:
        return f"{len(columns)} columns instead of 2 or 3"
    if len(columns) == 3 and columns[2].lower() not in {"", *LEVELS}:
        levels = ", ".join(LEVELS)
        return (
            f"the third column is not a speech level ({levels}); mend it, or if no row has one "
            "keep two columns (cut -f1,2)"
        )
    return ""


def _aligned_rows(entry: str, encoding: str) -> Iterator[_Row]:
    """Two files, line n of one translating line n of the other: "corpus.{en,ko}"."""
    src_path, tgt_path = files_of(entry)
    both = itertools.zip_longest(read_lines(src_path, encoding), read_lines(tgt_path, encoding))
    for number, (src, tgt) in enumerate(both, 1):
        if src is None or tgt is None:
            raise DataError(_uneven(src_path, tgt_path, encoding))
        yield _Row(f"{src_path}:{number}", src, tgt, "")


def files_of(entry: str) -> list[str]:
    """The paths that an entry of data.train means: a file, those that a pattern matches, or the two
    of "corpus.{en,ko}".  Raises DataError: nothing matches, or the braces are not such.
    """
    if "{" in entry:
        match = re.fullmatch(r"(.*)\{([^,{}]+),([^,{}]+)\}(.*)", entry)
        if not match:
            raise DataError(f"{entry}: write two aligned files as corpus.{{en,ko}}")
        head, src_part, tgt_part, tail = match.groups()
        return [head + src_part + tail, head + tgt_part + tail]
    if not glob.has_magic(entry) or Path(entry).exists():
        return [entry]
    paths = sorted(glob.glob(entry, recursive=True))
    if not paths:
        raise DataError(f"{entry}: no file matches (working directory: {Path.cwd()})")
    return paths


def _uneven(src_path: str, tgt_path: str, encoding: str) -> str:
    """Two aligned files differ in length: where they part, as far as that can be seen."""
    src_lines, tgt_lines = (
        list(read_lines(src_path, encoding)),
        list(read_lines(tgt_path, encoding)),
    )
    return (
        f"{src_path} has {len(src_lines)} lines but {tgt_path} has {len(tgt_lines)}; "
        f"they part near line {_first_suspicious(src_lines, tgt_lines)}; align them first"
    )


def _first_suspicious(src_lines: Sequence[str], tgt_lines: Sequence[str]) -> int:
    """Where a blank stands on one side only, else where the shorter file ends."""
    for number, (src, tgt) in enumerate(zip(src_lines, tgt_lines, strict=False), 1):
        if bool(src.strip()) != bool(tgt.strip()):
            return number
    return min(len(src_lines), len(tgt_lines)) + 1
