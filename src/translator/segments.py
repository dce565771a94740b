"""English text in parts that a sentence translator can take: sentences, and clauses of long ones.

Rules on the surface, not a parser. A full stop ends a sentence when a space and a capital, a digit
or an opening mark follow, unless it belongs to an abbreviation or an initial.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

_END: Final = re.compile(
    r"""(?<![.!?\u2026])(?P<mark>[.!?\u2026]+)
        (?P<close>["'\u201d\u2019)\]]*)
        \s+
        (?=["'\u201c\u2018(\[]*[A-Z0-9])""",
    re.VERBOSE,
)
_NEVER_LAST: Final = frozenset(
    "mr mrs ms dr prof st mt jr sr gen col capt lt sgt rev hon vs fig nos vol e.g i.e cf al "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
"""Abbreviations that something always follows."""
_CLAUSE_MARKS: Final = (r"(?<=[;:])\s+", r"\s+(?=[\u2013\u2014-]+\s)", r"(?<=,)\s+", r"\s+")
"""Where a sentence that is too long is split, the best places first; between words at the end."""


def split_sentences(text: str) -> list[str]:
    """The sentences of a paragraph, in order; joined with spaces they are the paragraph."""
    sentences, start = [], 0
    for match in _END.finditer(text):
        if match["mark"] != "." or not _is_abbreviation(text[start : match.start()]):
            sentences.append(text[start : match.end("close")].strip())
            start = match.end()
    rest = text[start:].strip()
    return [*sentences, rest] if rest else sentences


def _is_abbreviation(before: str) -> bool:
    """Whether a full stop behind this text belongs to its last word."""
    word = (
        before[max(before.rfind(" "), before.rfind("\t")) + 1 :].lstrip("\"'\u201c\u2018([").lower()
    )
    initials = re.fullmatch(r"[a-hj-z](\.[a-z])*|i(\.[a-z])+", word)  # J. F. Kennedy, 3 p.m.
    return word in _NEVER_LAST or initials is not None


def split_clauses(sentence: str, fits: Callable[[str], bool]) -> list[str]:
    """A sentence in as few parts as possible that each fit, split at the best marks there are.

    A single word that does not fit stays as it is.
    """
    return list(_parts(sentence, fits, 0))


def _parts(text: str, fits: Callable[[str], bool], level: int) -> Iterator[str]:
    if fits(text) or level == len(_CLAUSE_MARKS):
        yield text
        return
    joined = ""
    for piece in re.split(_CLAUSE_MARKS[level], text):
        longer = f"{joined} {piece}" if joined else piece
        if joined and not fits(longer):
            yield from _parts(joined, fits, level + 1)
            longer = piece
        joined = longer
    yield from _parts(joined, fits, level + 1)
