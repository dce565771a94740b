"""Which sentences are kept from training, to judge by."""

import hashlib
import heapq
import re

from translator.pairs import Pair


class HeldOut:
    """Chooses `size` different English sentences, with all their translations, to judge by.

    Sentences with the same `near_duplicate_key` count as one, so such near-copies do not stay in
    train. The choice depends on the sentence and the seed, not on the order of the file; memory
    grows with `size` alone.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size = size
        self._seed = seed
        self._chosen: dict[str, list[Pair]] = {}
        self._heap: list[tuple[int, str]] = []  # their keys by negative rank: the highest first
        self.left_over = False  # whether any sentence is not held out

    def offer(self, pair: Pair) -> None:
        """Shows one pair of the corpus; all are shown before the first is asked about."""
        key = near_duplicate_key(pair.src)
        if key in self._chosen:
            self._chosen[key].append(pair)
            return
        digest = hashlib.sha256(f"{self._seed}\t{key}".encode()).digest()
        rank = -int.from_bytes(digest[:16], "big")
        if len(self._chosen) < self._size:
            heapq.heappush(self._heap, (rank, key))
            self._chosen[key] = [pair]
            return
        self.left_over = True
        if self._heap and rank > self._heap[0][0]:
            _, highest = heapq.heapreplace(self._heap, (rank, key))
            del self._chosen[highest]
            self._chosen[key] = [pair]

    def pairs(self) -> list[Pair]:
        """All that is held out."""
        return [pair for pairs in self._chosen.values() for pair in pairs]

    def __contains__(self, english: str) -> bool:
        return bool(self._chosen) and near_duplicate_key(english) in self._chosen


def near_duplicate_key(english: str) -> str:
    """Equal for sentences that are the same but for case, punctuation between words, the width of
    spaces, and the digits of a number; "1,000" is two numbers, and "e-mail" two words.
    """
    words = re.sub(
        r"[^\w]+", " ", re.sub(r"\d+", "0", english.lower().replace("’", "'").replace("'", ""))
    )
    return " ".join(words.split())
