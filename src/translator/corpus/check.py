"""What a corpus line must fulfil, and where lines do not."""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from translator.levels import LEVELS, speech_level
from translator.pairs import near_duplicate_key, read_lines


class Line(NamedTuple):
    """One line of a corpus file, with its place."""

    place: str
    en: str
    ko: str
    level: str


class Finding(NamedTuple):
    """What is wrong with a line."""

    place: str
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


LATIN_ALLOWED: Final = frozenset(
    "TV CCTV PC USB KTX UFO DVD CD PDF IT DNA AI GPS ATM MRI SNS LED QR BTS pH "
    "km kg cm mm g m L ml A B C D E F G H O V X S k knife".split()
)
"""Latin words that Koreans write so, and single letters that a sentence talks about."""

_WITH_RIEUL: Final = "".join(chr(code) for code in range(ord("갈"), ord("힣"), 28))
_SPACING_FAULTS: Final = re.compile(
    rf"\s[.,!?]|[{_WITH_RIEUL}]수\s[있없]|것같|고싶|\s(는|을|를|의|에서|에게|으로)\s|"
    r"[0-9]\s(시|분|일|월|명|개|번|원|층)\b|안되[요는]|되요|돼었|뵈요|\s\s"
)
_PAIRS_OF_MARKS: Final = (('"', '"'), ("(", ")"), ("[", "]"), ("“", "”"))


def read_corpus(paths: Iterable[str | Path]) -> Iterator[Line]:
    """Lines of corpus files; a line with the wrong number of columns has the level ""."""
    for path in paths:
        for number, raw in enumerate(read_lines(path), 1):
            columns = raw.split("\t")
            place = f"{path}:{number}"
            yield Line(place, *columns) if len(columns) == 3 else Line(place, raw, "", "")


def check_lines(lines: Iterable[Line]) -> list[Finding]:
    """Everything wrong with single lines, and translations given twice."""
    findings = []
    seen: dict[tuple[str, str], str] = {}
    for line in lines:
        findings += [Finding(line.place, problem) for problem in _problems(line)]
        key = (sentence_key(line.en), line.level)
        if key in seen:
            findings.append(Finding(line.place, f"the same English and level as {seen[key]}"))
        seen.setdefault(key, line.place)
    return findings


def check_apart(parts: dict[str, list[Line]]) -> list[Finding]:
    """Sentences of one part (train, dev, test) that stand, nearly the same, in another."""
    keys = {
        name: {near_duplicate_key(line.en): line for line in lines} for name, lines in parts.items()
    }
    return [
        Finding(keys[a][key].place, f"nearly the same English in {b}: {keys[b][key].place}")
        for a, b in itertools.combinations(keys, 2)
        for key in sorted(keys[a].keys() & keys[b].keys())
    ]


def sentence_key(english: str) -> str:
    """Equal for sentences that differ only in case and punctuation."""
    text = unicodedata.normalize("NFKC", english).lower().replace("’", "'")
    return " ".join(re.sub(r"[^\w' ]+", " ", text).split())


def _problems(line: Line) -> Iterator[str]:
    if line.level not in LEVELS:
        yield "expected English, Korean and a level between tabs"
        return
    if not unicodedata.is_normalized("NFC", line.en + line.ko):
        yield "not NFC"
    if line.en != line.en.strip() or line.ko != line.ko.strip():
        yield "space at an edge"
    if re.search("[가-힣]", line.en) or not re.search("[A-Za-z0-9]", line.en):
        yield "the English side is not English"
    if not re.search("[가-힣]", line.ko):
        yield "the Korean side is not Korean"
    yield from _wrong_letters(line)
    yield from _wrong_shape(line)
    if not shows_level(line.ko, line.level, fragment=line.en[-1] not in ".?!"):
        yield f"the ending does not show {line.level}: {line.ko}"


def _wrong_letters(line: Line) -> Iterator[str]:
    for word in re.findall(r"[A-Za-z]+", line.ko):
        if word not in LATIN_ALLOWED:
            yield f"Latin letters in the Korean: {word}"
    if re.search("[一-鿿ぁ-ヿᄀ-ᇿ]", line.ko):
        yield "a letter that is not Hangul in the Korean"
    missing = set(re.findall(r"\d+", line.en)) - set(re.findall(r"\d+", line.ko))
    if missing and not re.search(r":\d\d|\d,\d|\d(st|nd|rd|th)\b", line.en):
        yield f"digits of the English are missing in the Korean: {', '.join(sorted(missing))}"


def _wrong_shape(line: Line) -> Iterator[str]:
    for text in (line.en, line.ko):
        for opening, closing in _PAIRS_OF_MARKS:
            unpaired = text.count(opening) % 2 if opening == closing else 0
            if unpaired or text.count(opening) != text.count(closing):
                yield f"unbalanced {opening}: {text}"
    if len(line.ko) > 3.2 * len(line.en) + 12 or len(line.en) > 6 * len(line.ko) + 14:
        yield f"suspicious lengths: {line.en} / {line.ko}"
    fault = _SPACING_FAULTS.search(line.ko)
    if fault:
        yield f"spacing or spelling at {fault[0]!r}: {line.ko}"


def shows_level(korean: str, level: str, fragment: bool = False) -> bool:
    """Whether no sentence of a line ends in another level than its own.

    Exclamations of two syllables fit any level, and so does the last noun of a fragment, which may
    end like a verb (편지, 가게).
    """
    core = re.sub(r"\"[^\"]*\"|[()\[\]]", "", korean)  # what is quoted keeps its own level
    parts = [part.strip() for part in re.findall(r"[^.!?]+[.!?]*", core)]
    shown = {speech_level(part) for part in parts if len(part.rstrip(".!?")) > 2} - {"any"}
    if fragment:
        shown -= {"casual", "plain"}
    if level in {"casual", "plain"}:  # -니, -자, -어라 are said and written at both
        return not shown & {"formal", "polite"}
    return shown <= {level}
