"""Subword regularisation on ids: pieces are split in two at random, so that a model sees a word
spelled in more than one way.

The idea is that of Kudo (2018) and of BPE dropout (Provilkov et al., 2020). SentencePiece can draw
spellings itself, but from a random state of its own that cannot be saved, and from text; splitting
ids needs neither, and a resumed run draws the same as one that was never stopped.
"""

import random
from collections.abc import Mapping, Sequence

from translator.store import EncodedPair
from translator.tokenizer import Tokenizer

Splits = Mapping[int, Sequence[tuple[int, int]]]
"""Every way to write a piece as two others."""


def possible_splits(tokenizer: Tokenizer) -> Splits:
    """All pairs of pieces that together spell a piece, for each piece that has any."""
    plain = tokenizer.plain_pieces()
    found = {}
    for piece, index in plain.items():
        halves = ((piece[:i], piece[i:]) for i in range(1, len(piece)))
        pairs = [(plain[a], plain[b]) for a, b in halves if a in plain and b in plain]
        if pairs:
            found[index] = pairs
    return found


class Resplitter:
    """Splits pieces of encoded pairs.

    Args:
        splits: from `possible_splits`
        share: probability of each piece that can be split; its halves may be split again
    """

    def __init__(self, splits: Splits, share: float) -> None:
        self._splits = splits
        self._share = share

    def pair(self, pair: EncodedPair, rng: random.Random, longest: int) -> EncodedPair:
        """Both sides of a pair, spelled anew; a side that would have more than `longest` pieces
        stays as it is.
        """
        src, tgt = (self._side(ids, rng) for ids in pair)
        return EncodedPair(
            src if len(src) <= longest else pair.src, tgt if len(tgt) <= longest else pair.tgt
        )

    def _side(self, ids: list[int], rng: random.Random) -> list[int]:
        spelled: list[int] = []
        for index in ids:
            self._add(index, spelled, rng)
        return spelled

    def _add(self, index: int, spelled: list[int], rng: random.Random) -> None:
        if index in self._splits and rng.random() < self._share:
            for half in rng.choice(self._splits[index]):
                self._add(half, spelled, rng)
        else:
            spelled.append(index)
