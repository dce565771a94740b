"""One translated sentence, what is known about it, and what looks wrong with it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from translator.decoding import Hypothesis
from translator.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Translation:
    """One translated text and what is known about it."""

    text: str
    score: float  # log-probability in nats, on a CPU to about a hundredth (compact.py says why)
    finished: bool  # False when the length limit cut it off
    ids: tuple[int, ...]  # target tokens, without bos and eos
    pieces: tuple[str, ...]  # the same as SentencePiece writes them
    warnings: tuple[str, ...]  # plain words; empty when nothing looks wrong
    alternatives: tuple["Translation", ...] = ()  # the next best, when more than one was asked for


BLANK: Final = Translation(text="", score=0.0, finished=True, ids=(), pieces=(), warnings=())


class TooLong(UserError, ValueError):
    """A source has more pieces than the model has positions.

    Args:
        index: which of the texts it is, from 0
        given, most: pieces of the text, and pieces that the model takes
    """

    def __init__(self, index: int, given: int, most: int) -> None:
        super().__init__(index, given, most)  # so that it can be pickled
        self.index = index
        self._sizes = (given, most)

    def __str__(self) -> str:
        given, most = self._sizes
        return f"{given} pieces, but the model takes {most}; split the sentence"

    def at(self, index: int) -> "TooLong":
        """The same of another list, in which the text has another place."""
        return TooLong(index, *self._sizes)


def suspicions(n_source: int, hypothesis: Hypothesis) -> Iterator[str]:
    """Signs of a translation gone wrong: it loops, is empty or far too long, or never ended."""
    ids = hypothesis.ids
    fours = Counter(zip(ids, ids[1:], ids[2:], ids[3:], strict=False))
    if fours and max(fours.values()) >= 4:
        yield "a phrase repeats itself"
    if not ids:
        yield "nothing was written"
    if len(ids) > 3 * max(n_source, 3):
        yield "much longer than the source"
    if not hypothesis.finished:
        yield "cut off at the length limit"
