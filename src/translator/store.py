"""Encoded pairs on disk, so that memory does not grow with the corpus."""

import array
import hashlib
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from translator.pairs import Pair, Report
from translator.tokenizer import Tokenizer


class EncodedPair(NamedTuple):
    """Ids of one pair: tag, source, eos; and target, eos."""

    src: list[int]
    tgt: list[int]


def encode_pairs(
    pairs: Iterable[Pair], tokenizer: Tokenizer, max_len: int, max_tokens: int, report: Report
) -> Iterator[EncodedPair]:
    """Pairs as ids. What is longer than the model or a whole batch allows is dropped and reported.

    Lengths count every special token: S = pieces + 2 (level tag, eos), T = pieces + 1 (bos or eos).
    """
    for pair in pairs:
        encoded = EncodedPair(
            tokenizer.encode_source(pair.src, pair.level), tokenizer.encode_target(pair.tgt)
        )
        longest = max(len(encoded.src), len(encoded.tgt))
        if longest > min(max_len, max_tokens):
            name = "model.max_len" if max_len <= max_tokens else "train.max_tokens"
            place = f"{longest} tokens: {pair.src[:80]}"
            report.drop(f"longer than {name} = {min(max_len, max_tokens)} tokens", place)
            continue
        report.kept += 1
        yield encoded


_TOKENS: Final = "tokens.i32"
_OFFSETS: Final = "offsets.i64"


def _close(*files: IO[bytes]) -> None:
    for file in files:
        file.close()


class _Ends(NamedTuple):
    """Where a pair begins, where its source ends, and where its target ends."""

    start: int
    src: int
    tgt: int


class TokenStore:
    """Encoded pairs in two files, of which only what is asked for is read.

    `tokens.i32` holds source and target of one pair behind the other; row n of `offsets.i64` says
    where the source of pair n ends and where its target ends. Read and not memory-mapped: pages of
    a mapped file count as the process's own memory, which would then seem to grow with the corpus.
    """

    def __init__(self, directory: str | Path) -> None:
        directory = Path(directory)
        self._paths = [directory / _TOKENS, directory / _OFFSETS]
        self._tokens, self._offsets = (open(path, "rb", buffering=0) for path in self._paths)  # noqa: SIM115
        weakref.finalize(self, _close, self._tokens, self._offsets)
        self._size = self._paths[1].stat().st_size // 16 - 1

    @classmethod
    def build(cls, directory: str | Path, pairs: Iterable[EncodedPair]) -> "TokenStore":
        """Writes the files, replacing older ones, and opens them."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        end = 0
        for name in (_TOKENS, _OFFSETS):  # whoever has the older ones open keeps them
            (directory / name).unlink(missing_ok=True)
        with (
            open(directory / _TOKENS, "wb") as tokens,
            open(directory / _OFFSETS, "wb") as offsets,
        ):
            array.array("q", [0, 0]).tofile(offsets)
            for src, tgt in pairs:
                array.array("i", src + tgt).tofile(tokens)
                src_end = end + len(src)
                end = src_end + len(tgt)
                array.array("q", [src_end, end]).tofile(offsets)
        return cls(directory)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> EncodedPair:
        ends = self._ends_of(index)
        self._tokens.seek(4 * ends.start)
        ids = array.array("i", self._tokens.read(4 * (ends.tgt - ends.start))).tolist()
        return EncodedPair(ids[: ends.src - ends.start], ids[ends.src - ends.start :])

    def n_tokens(self, start: int, end: int) -> int:
        """Tokens of both sides of the pairs from `start` up to but not including `end`."""
        first, last = (self._end_of(index) for index in (start, end))
        return last - first

    def _end_of(self, count: int) -> int:
        """Where the first `count` pairs end."""
        self._offsets.seek(16 * count + 8)
        return array.array("q", self._offsets.read(8))[0]

    def lengths(self, indices: Iterable[int]) -> list[tuple[int, int]]:
        """Tokens of source and of target of each pair asked for."""
        found = map(self._ends_of, indices)
        return [(ends.src - ends.start, ends.tgt - ends.src) for ends in found]

    def _ends_of(self, index: int) -> "_Ends":
        self._offsets.seek(16 * index + 8)
        return _Ends(*array.array("q", self._offsets.read(24)))

    @property
    def fingerprint(self) -> str:
        """Same fingerprint, same pairs in the same order."""
        digest = hashlib.sha256()
        for path in self._paths:
            with open(path, "rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
        return digest.hexdigest()[:16]
