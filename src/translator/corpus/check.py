"""What the lines of the corpus must satisfy, and where they do not."""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from translator.corpus.lines import Line, sentence_key
from translator.heldout import near_duplicate_key
from translator.levels import speech_level


class Finding(NamedTuple):
    """What is wrong with a line."""

    place: str
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


MALFORMED: Final = "expected English, Korean and a level between tabs"
LATIN_ALLOWED: Final = frozenset(
    "TV CCTV PC USB KTX UFO DVD CD PDF IT DNA AI GPS ATM MRI SNS LED QR BTS LG SK pH "
    "km kg cm mm g m L ml A B C D E F G H K O Q V X S k knife".split()
)
"""Latin words that Koreans write so, and single letters that a sentence talks about."""

_WITH_RIEUL: Final = "".join(chr(code) for code in range(ord("갈"), ord("힣"), 28))
_SPACING_FAULTS: Final = re.compile(
    rf"\s[.,!?]|[{_WITH_RIEUL}]수\s[있없]|것같|고싶|\s(는|을|를|의|에서|에게|으로)\s|"
    r"[0-9]\s(시|분|일|월|명|개|번|원|층)\b|안되[요는]|되요|돼었|뵈요|\s\s"
)
_PAIRS_OF_MARKS: Final = (('"', '"'), ("(", ")"), ("[", "]"), ("“", "”"))


def check_corpus(parts: Mapping[str, Sequence[Line]]) -> list[Finding]:
    """Everything wrong with a corpus whose parts are PARTS.

    Each file of `heldout` is a split of its own; the splits and what is trained on are apart.
    """
    by_hand = [*parts["handwritten"], *parts["heldout"]]
    splits: dict[str, list[Line]] = {"train": [*parts["converted"], *parts["handwritten"]]}
    for line in parts["heldout"]:
        splits.setdefault(f"heldout/{line.file}", []).append(line)
    return [
        *check_lines(by_hand),
        *check_lines(parts["converted"]),
        *check_formal(by_hand),
        *check_apart(splits),
    ]


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


def check_formal(lines: Sequence[Line]) -> list[Finding]:
    """English without a line at the level formal, from which other levels are made."""
    formal = {line.en for line in lines if line.level == "formal"}
    lacking: dict[str, Line] = {}
    for line in lines:
        if line.complete and line.en not in formal:
            lacking.setdefault(line.en, line)
    return [Finding(line.place, f"no formal line: {line.en}") for line in lacking.values()]


def check_apart(splits: Mapping[str, Iterable[Line]]) -> list[Finding]:
    """Sentences of one split (train, dev, test) that stand, nearly the same, in another."""
    keys = {
        name: {near_duplicate_key(line.en): line for line in lines}
        for name, lines in splits.items()
    }
    return [
        Finding(keys[a][key].place, f"nearly the same English in {b}: {keys[b][key].place}")
        for a, b in itertools.combinations(keys, 2)
        for key in sorted(keys[a].keys() & keys[b].keys())
    ]


def _problems(line: Line) -> Iterator[str]:
    if not line.complete:
        yield MALFORMED
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
    if not shows_level(line.ko, line.level, fragment=not line.en.endswith((".", "?", "!"))):
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
