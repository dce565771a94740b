"""The corpus in figures: data/REPORT.md, which a test holds true."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from translator.corpus.check import Line, read_corpus, sentence_key
from translator.corpus.coverage import count_grammar, count_words, length_class, read_word_list
from translator.corpus.frames import Grammar
from translator.levels import LEVELS

PARTS = ("handwritten", "heldout", "converted")
ENOUGH = ((2000, 10), (3000, 4))
"""Words up to this rank should occur in at least so many sentences."""


def corpus_parts(data: str | Path) -> dict[str, list[Line]]:
    """The committed lines of each part, read in order."""
    data = Path(data)
    return {part: list(read_corpus(sorted((data / part).glob("*.tsv")))) for part in PARTS}


def write_report(data: str | Path) -> str:
    """The report as Markdown; a pure function of the files in the data directory."""
    data = Path(data)
    parts = corpus_parts(data)
    by_hand = [*parts["handwritten"], *parts["heldout"]]
    sentences = sorted({line.en for line in by_hand})
    grammar = Grammar.read(data)
    sections = [
        "# The corpus in figures",
        "Written by `translator corpus report`; a test compares it with the files.",
        "## Pairs by part and level",
        _table(("part", "English sentences", *LEVELS[:4], "pairs"), _level_rows(parts)),
        "## Hand-written English",
        _table(("words", "sentences", "share"), _length_rows(sentences)),
        f"Without a final mark: {_percent(_unmarked(sentences), len(sentences))}.",
        "### Grammar (by rules of thumb on the surface)",
        _table(("point", "sentences"), count_grammar(sentences).items()),
        "### Words",
        *_word_sections(sentences, read_word_list(data / "english-words.txt")),
        "## Lexicon and frames",
        _table(("what", "count"), _grammar_rows(grammar)),
    ]
    return "\n\n".join(sections) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}"


def _unmarked(sentences: Sequence[str]) -> int:
    return sum(sentence[-1] not in '.?!"' for sentence in sentences)


def _level_rows(parts: dict[str, list[Line]]) -> Iterable[Sequence[object]]:
    for part, lines in parts.items():
        levels = Counter(line.level for line in lines)
        n_sentences = len({sentence_key(line.en) for line in lines})
        yield part, n_sentences, *(levels[level] for level in LEVELS[:4]), len(lines)


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


def _grammar_rows(grammar: Grammar) -> Iterable[Sequence[object]]:
    entries = grammar.lexicon.by_id.values()
    by_hand = [frame for frame in grammar.frames if frame.id[0].isdigit()]
    yield "lexicon entries", len(entries)
    yield "lexicon classes", len({entry.word_class for entry in entries})
    yield "frames", len(grammar.frames) - len(by_hand)
    yield "hand-written pairs with slots", len(by_hand)
    for level in LEVELS[:4]:
        sizes = [grammar.capacity(frame) for frame in grammar.frames if level in frame.korean]
        yield f"different pairs that can be drawn at the level {level}", sum(sizes)
        yield f"the same, at most 300 of one frame, {level}", sum(min(s, 300) for s in sizes)
