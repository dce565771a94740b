"""How good translations are beyond their score: copied numbers, speech level, loops, cuts."""

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from translator.copying import items, lost
from translator.levels import agrees
from translator.metrics import check_same_number, chrf
from translator.noise import WAYS
from translator.pairs import Pair

LENGTHS: Final = ((1, 1), (2, 4), (5, 7), (8, 15), (16, 10_000))
"""Words of the English side, first and last of each bucket."""
TWO_SENTENCES: Final = "two sentences"


class Share(NamedTuple):
    """How many of those that count."""

    n: int
    total: int

    @property
    def share(self) -> float | None:
        """0 to 1; None when nothing counts."""
        return self.n / self.total if self.total else None


class Judged(NamedTuple):
    """One pair and what was written for it."""

    pair: Pair
    asked: str  # speech level
    translation: str
    finished: bool
    group: str  # where the pair is from, for example a file


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The figures of some sentences."""

    n: int
    chrf: float
    exact: Share
    copied: Share  # addresses and numbers carried over
    level: Share  # at the level asked for, of those whose ending shows one
    repeated: Share  # a phrase twice in a row that the reference has not
    cut: Share  # ended by the length limit


def summarize(judged: Sequence[Judged]) -> Summary:
    """The figures of a set of at least one sentence.  Raises EvaluationError without sacrebleu."""
    texts = [item.translation for item in judged]
    copies = copy_accuracy([item.pair.src for item in judged], texts)
    levels = [agrees(item.translation, item.asked) for item in judged]
    return Summary(
        n=len(judged),
        chrf=chrf(texts, [item.pair.tgt for item in judged]),
        exact=_share(item.translation == item.pair.tgt for item in judged),
        copied=copies,
        level=_share(fits for fits in levels if fits is not None),
        repeated=_share(
            repeats(item.translation) and not repeats(item.pair.tgt) for item in judged
        ),
        cut=_share(not item.finished for item in judged),
    )


def grouped(judged: Sequence[Judged]) -> Iterator[tuple[str, Summary]]:
    """The figures of parts: by length, by level and, where there are several, by origin."""
    for first, last in LENGTHS:
        name = _length_name(first, last)
        yield from _part(name, [i for i in judged if first <= _n_words(i) <= last])
    for level in sorted({item.asked for item in judged}):
        yield from _part(f"asked in {level}", [item for item in judged if item.asked == level])
    groups = sorted({item.group for item in judged})
    for group in groups if len(groups) > 1 else []:
        yield from _part(group, [item for item in judged if item.group == group])


class Careless(NamedTuple):
    """chrF of the sentences that a kind of careless typing changes, as they were and as typed."""

    kind: str
    n: int
    before: float
    after: float


class Disturbed(NamedTuple):
    """Pairs whose English is typed in another way than the pairs that they belong to."""

    kind: str
    places: list[int]  # of the pairs that this kind of noise changes
    pairs: list[Pair]


def disturbed(pairs: Sequence[Pair], seed: int = 0) -> Iterator[Disturbed]:
    """For each kind of careless typing the pairs that it changes; at the end each pair together
    with the one that follows it, if that has the same level.
    """
    for kind in WAYS:
        rng = random.Random(f"{seed}/{kind.name}")
        typed = [kind.apply(pair.src, rng) for pair in pairs]
        places = [i for i, text in enumerate(typed) if text and text != pairs[i].src]
        yield Disturbed(kind.name, places, [pairs[i]._replace(src=typed[i]) for i in places])
    both = [
        (i, Pair(f"{one.src} {two.src}", f"{one.tgt} {two.tgt}", one.level))
        for i, (one, two) in enumerate(itertools.pairwise(pairs))
        if one.level == two.level and one.src.endswith((".", "!", "?"))
    ]
    yield Disturbed(TWO_SENTENCES, [i for i, _ in both], [pair for _, pair in both])


def copy_accuracy(sources: Sequence[str], translations: Sequence[str]) -> Share:
    """How much of what has to stay as it is (`copying.items`) does.

    Raises:
        EvaluationError: the numbers of sentences differ.
    """
    check_same_number(translations, sources, "sources")
    total = sum(len(items(source)) for source in sources)
    pairs = zip(sources, translations, strict=True)
    return Share(total - sum(len(lost(*pair)) for pair in pairs), total)


def repeats(text: str) -> bool:
    """Whether a word or a run of words stands twice in a row: 책을 책을, 그는 밥을 그는 밥을."""
    words = text.split()
    return any(
        words[start : start + n] == words[start + n : start + 2 * n]
        for n in range(1, len(words) // 2 + 1)
        for start in range(len(words) - 2 * n + 1)
    )


def _part(name: str, judged: Sequence[Judged]) -> Iterator[tuple[str, Summary]]:
    if judged:
        yield name, summarize(judged)


def _length_name(first: int, last: int) -> str:
    if first == last:
        return "1 word"
    return f"{first} words and more" if last == LENGTHS[-1][1] else f"{first}-{last} words"


def _n_words(item: Judged) -> int:
    return len(item.pair.src.split())


def _share(facts: Iterable[bool]) -> Share:
    known = list(facts)
    return Share(sum(known), len(known))


def as_plain(summary: Summary) -> Mapping[str, object]:
    """For JSON: shares as numbers 0 to 1, with what they are of."""
    named = {
        name: {"share": share.share, "of": share.total}
        for name, share in vars(summary).items()
        if isinstance(share, Share)
    }
    return {"sentences": summary.n, "chrf": round(summary.chrf, 2)} | named
