"""What the commands of the corpus make: drawn pairs, converted levels, the conjugation table."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from translator.corpus.check import MALFORMED, Finding, check_formal
from translator.corpus.conjugation import conjugate_all
from translator.corpus.convert import Converter
from translator.corpus.drawing import FrameSet
from translator.corpus.lexicon import Lexicon
from translator.corpus.lines import read_part
from translator.errors import UserError
from translator.files import write_lines
from translator.heldout import near_duplicate_key
from translator.levels import SPOKEN
from translator.pairs import Pair

_SPEAKER: Final = re.compile(r"\b([Ii]|(?i:me|my|mine|myself|we|our|ours)|[Uu]s)\b")
_OWN: Final = re.compile(r"(^|\s)제\s")


class Converted(NamedTuple):
    """Pairs at levels that nobody wrote, and how many sentences were left out for each."""

    pairs: dict[str, list[Pair]]
    left_out: dict[str, int]


def draw_pairs(
    data: Path,
    per_frame: int,
    levels: Sequence[str],
    seed: int,
    *,
    held_out: bool = False,
    words: bool = False,
) -> list[Pair]:
    """Up to `per_frame` pairs of each frame at each level, without what dev and test hold.

    Args:
        held_out: draw from the frames that are kept from training instead
        words: the words of the lexicon by themselves, too
    """
    known = {near_duplicate_key(line.en) for line in read_part(data, "heldout")}
    frame_set = FrameSet.read(data)
    drawn = list(frame_set.draw_all(per_frame, levels, seed, held_out))
    if words:
        drawn += frame_set.words(levels)
    return [pair for pair in drawn if near_duplicate_key(pair.src) not in known]


def convert_levels(data: Path) -> Converted:
    """Every level that nobody wrote, for all hand-written sentences. Needs kiwipiepy.

    Raises:
        UserError: kiwipiepy is missing, a line is malformed, or a sentence has no formal line.
    """
    sentences = written_levels(data)
    converter = Converter()
    pairs: dict[str, list[Pair]] = {level: [] for level in SPOKEN if level != "formal"}
    left_out = dict.fromkeys(pairs, 0)
    for src, written in sentences.items():
        for level, tgt in missing_levels(converter, written).items():
            if tgt is None or (level != "polite" and _own_of_another(src, written["formal"])):
                left_out[level] += 1
            else:
                pairs[level].append(Pair(src, tgt, level))
    return Converted(pairs, left_out)


def _own_of_another(english: str, formal: str) -> bool:
    """Whether 제 is not "my", which would become 내: 고양이가 제 몸을 핥고 있습니다."""
    return bool(_OWN.search(formal)) and not _SPEAKER.search(english)


def missing_levels(converter: Converter, written: Mapping[str, str]) -> dict[str, str | None]:
    """The levels that nobody wrote of a sentence: polite and plain from formal, casual from polite.

    Args:
        written: level -> Korean; formal is there

    Returns:
        level -> Korean, or None where it cannot be converted with certainty.
    """
    formal, polite = written["formal"], written.get("polite")
    made: dict[str, str | None] = {}
    if polite is None:
        polite = made["polite"] = converter.convert(formal, "polite")
    if "casual" not in written:
        suggestion = formal.rstrip(".!").endswith("시다")
        casual = None if polite is None else converter.convert(polite, "casual", suggestion)
        made["casual"] = casual
    if "plain" not in written:
        made["plain"] = converter.convert(formal, "plain")
    return made


def written_levels(data: Path) -> dict[str, dict[str, str]]:
    """English -> level -> Korean, of the hand-written training part.

    Raises:
        UserError: a line is malformed, or a sentence has no formal line (names the place).
    """
    lines = read_part(data, "handwritten")
    findings = [Finding(line.place, MALFORMED) for line in lines if not line.complete]
    findings += check_formal(lines)
    if findings:
        raise UserError(f"{findings[0]}; all faults are listed by: translator corpus check")
    sentences: dict[str, dict[str, str]] = {}
    for line in lines:
        sentences.setdefault(line.en, {})[line.level] = line.ko
    return sentences


def write_conjugations(data: Path) -> int:
    """Writes data/conjugations.tsv for every verb and adjective.  -> number of forms"""
    entries = Lexicon.read(data / "lexicon").by_id.values()
    rows = list(conjugate_all(e for e in entries if e.word_class.startswith(("verb", "adj"))))
    write_lines(data / "conjugations.tsv", map("\t".join, rows))
    return len(rows)
