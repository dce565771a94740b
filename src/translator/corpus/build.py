"""What the commands of the corpus make: drawn pairs, converted levels, the conjugation table."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from translator.corpus.check import read_corpus
from translator.corpus.conjugation import conjugate_all
from translator.corpus.convert import Converter
from translator.corpus.frames import Grammar
from translator.corpus.lexicon import Lexicon
from translator.pairs import Pair, near_duplicate_key


class Converted(NamedTuple):
    """Pairs at levels that nobody wrote, and how many sentences were left out for each."""

    pairs: dict[str, list[Pair]]
    left_out: dict[str, int]


def draw_pairs(
    data: Path, per_frame: int, levels: Sequence[str], seed: int, held_out: bool = False
) -> list[Pair]:
    """Up to `per_frame` pairs of each frame at each level, without what dev and test hold.

    Args:
        held_out: draw from the frames that are kept from training instead
    """
    kept = read_corpus(sorted((data / "heldout").glob("*.tsv")))
    known = {near_duplicate_key(line.en) for line in kept}
    drawn = Grammar.read(data).draw_all(per_frame, levels, seed, held_out)
    return [pair for pair in drawn if near_duplicate_key(pair.src) not in known]


def convert_levels(data: Path) -> Converted:
    """The levels that nobody wrote: polite and plain from formal, casual from polite. Needs
    kiwipiepy.
    """
    converter = Converter()
    pairs: dict[str, list[Pair]] = {"polite": [], "casual": [], "plain": []}
    left_out = dict.fromkeys(pairs, 0)

    def keep(src: str, tgt: str | None, level: str) -> None:
        if tgt is None:
            left_out[level] += 1
        else:
            pairs[level].append(Pair(src, tgt, level))

    for src, written in _by_sentence(data).items():
        formal, polite = written["formal"], written.get("polite")
        suggestion = formal.rstrip(".!").endswith("시다")
        if polite is None:
            polite = converter.convert(formal, "polite")
            keep(src, polite, "polite")
        if "casual" not in written:
            casual = polite and converter.convert(polite, "casual", suggestion)
            keep(src, casual, "casual")
        if "plain" not in written:
            keep(src, converter.convert(formal, "plain"), "plain")
    return Converted(pairs, left_out)


def write_conjugations(data: Path) -> int:
    """Writes data/conjugations.tsv for every verb and adjective.  -> number of forms"""
    entries = Lexicon.read(data / "lexicon").by_id.values()
    rows = list(conjugate_all(e for e in entries if e.word_class.startswith(("verb", "adj"))))
    text = "".join("\t".join(row) + "\n" for row in rows)
    (data / "conjugations.tsv").write_text(text, encoding="utf-8")
    return len(rows)


def _by_sentence(data: Path) -> dict[str, dict[str, str]]:
    """English -> level -> Korean, of the hand-written training part."""
    sentences: dict[str, dict[str, str]] = {}
    for line in read_corpus(sorted((data / "handwritten").glob("*.tsv"))):
        sentences.setdefault(line.en, {})[line.level] = line.ko
    return sentences
