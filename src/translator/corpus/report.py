"""The corpus in figures: data/REPORT.md, which a test holds true."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from translator.corpus.coverage import count_grammar, count_words, length_class
from translator.corpus.drawing import FrameSet
from translator.corpus.lines import Line, sentence_key
from translator.levels import SPOKEN

ENOUGH: Final = ((2000, 10), (3000, 4))
"""Up to which rank a word should occur in at least how many sentences."""
AT_MOST: Final = 300
"""Pairs of one frame in the last figures, so that a few large frames do not stand for all."""


def report_text(
    parts: Mapping[str, Sequence[Line]], frame_set: FrameSet, words: Sequence[str]
) -> str:
    """The report as Markdown, without the last line feed.

    Args:
        parts: the lines of each of PARTS
        words: the checklist, the most frequent word first
    """
    by_hand = [*parts["handwritten"], *parts["heldout"]]
    sentences = sorted({line.en for line in by_hand})
    sections = [
        "# The corpus in figures",
        "Written by `translator corpus report`; a test compares it with the files.",
        "## Pairs by part and level",
        _table(("part", "English sentences", *SPOKEN, "pairs"), _level_rows(parts)),
        "## Hand-written English, held-out sentences too",
        _table(("words", "sentences", "share"), _length_rows(sentences)),
        f"Without a final mark: {_percent(_unmarked(sentences), len(sentences))}.",
        "### Grammar (by rules of thumb on the surface)",
        _table(("point", "sentences"), count_grammar(sentences).items()),
        "### Words",
        *_word_sections(sentences, words),
        "## Lexicon and frames",
        _table(("what", "count"), _frame_rows(frame_set)),
    ]
    return "\n\n".join(sections)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _percent(part: int, whole: int) -> str:
    return f"{part / max(whole, 1):.1%}"


def _unmarked(sentences: Sequence[str]) -> int:
    return sum(not sentence.endswith((".", "?", "!", '"')) for sentence in sentences)


def _level_rows(parts: Mapping[str, Sequence[Line]]) -> Iterable[Sequence[object]]:
    for part, lines in parts.items():
        levels = Counter(line.level for line in lines)
        n_sentences = len({sentence_key(line.en) for line in lines})
        yield part, n_sentences, *(levels[level] for level in SPOKEN), len(lines)


def _length_rows(sentences: Sequence[str]) -> Iterable[Sequence[object]]:
    counts = Counter(map(length_class, sentences))
    for name in ("1-4", "5-7", "8-15", "16+"):
        yield name, counts[name], _percent(counts[name], len(sentences))


def _word_sections(sentences: Sequence[str], words: Sequence[str]) -> Iterable[str]:
    counts = count_words(sentences, words)
    start = 0
    for end, least in ENOUGH:
        part = words[start:end]
        lacking = [f"{word} ({counts[word]})" for word in part if counts[word] < least]
        yield (
            f"Words {start + 1} to {end} of `english-words.txt`: {len(part) - len(lacking)} of "
            f"{len(part)} occur in at least {least} sentences"
            + (f"; the others: {', '.join(lacking)}." if lacking else ".")
        )
        start = end


def _frame_rows(frame_set: FrameSet) -> Iterable[Sequence[object]]:
    entries = frame_set.lexicon.by_id.values()
    by_hand = [frame for frame in frame_set.frames if frame.id[0].isdigit()]
    yield "lexicon entries", len(entries)
    yield "lexicon classes", len({entry.word_class for entry in entries})
    yield "frames", len(frame_set.frames) - len(by_hand)
    yield "hand-written pairs with slots", len(by_hand)
    for level in SPOKEN:
        sizes = [frame_set.capacity(frame) for frame in frame_set.frames if level in frame.korean]
        yield f"different pairs that can be drawn at the level {level}", sum(sizes)
        yield (
            f"the same, at most {AT_MOST} of one frame, {level}",
            sum(min(size, AT_MOST) for size in sizes),
        )
