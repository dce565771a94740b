"""From sentence pairs to batches of ids.

encode_pairs  ->  TokenStore (on disk, memory-mapped)  ->  TokenBatchSampler  ->  collate  ->  Batch
"""

import array
import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import torch
from torch import Tensor

from translator.pairs import Pair, Report
from translator.tokenizer import BOS_ID, PAD_ID, Tokenizer


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
    for number, pair in enumerate(pairs, 1):
        encoded = EncodedPair(
            tokenizer.encode_source(pair.src, pair.level), tokenizer.encode_target(pair.tgt)
        )
        longest = max(len(encoded.src), len(encoded.tgt))
        if longest > min(max_len, max_tokens):
            name = "model.max_len" if max_len <= max_tokens else "train.max_tokens"
            place = f"pair {number}, {longest} tokens: {pair.src[:40]}"
            report.drop(f"longer than {name} = {min(max_len, max_tokens)} tokens", place)
            continue
        report.kept += 1
        yield encoded


_FILES: Final = ("src.i32", "tgt.i32", "offsets.i64")


class TokenStore:
    """Encoded pairs on disk, memory-mapped: memory does not grow with the corpus.

    `src.i32` and `tgt.i32` hold all tokens one pair behind the other; row n of `offsets.i64` says
    where pair n begins in both.
    """

    def __init__(self, directory: str | Path) -> None:
        directory = Path(directory)
        self._paths = [directory / name for name in _FILES]
        offsets = _map(directory / "offsets.i64", torch.int64)
        self._src_ends, self._tgt_ends = offsets.view(-1, 2).unbind(1)  # 2 × (n + 1,)
        self._src = _map(directory / "src.i32", torch.int32)
        self._tgt = _map(directory / "tgt.i32", torch.int32)

    @classmethod
    def build(cls, directory: str | Path, pairs: Iterable[EncodedPair]) -> "TokenStore":
        """Writes the files, replacing older ones, and opens them."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        src_end = tgt_end = 0
        for name in _FILES:
            (directory / name).unlink(
                missing_ok=True
            )  # whoever has the older ones mapped keeps them
        with (
            open(directory / "src.i32", "wb") as src_file,
            open(directory / "tgt.i32", "wb") as tgt_file,
            open(directory / "offsets.i64", "wb") as offsets_file,
        ):
            array.array("q", [0, 0]).tofile(offsets_file)
            for src, tgt in pairs:
                array.array("i", src).tofile(src_file)
                array.array("i", tgt).tofile(tgt_file)
                src_end, tgt_end = src_end + len(src), tgt_end + len(tgt)
                array.array("q", [src_end, tgt_end]).tofile(offsets_file)
        return cls(directory)

    def __len__(self) -> int:
        return len(self._src_ends) - 1

    def __getitem__(self, index: int) -> EncodedPair:
        src = self._src[self._src_ends[index] : self._src_ends[index + 1]]
        tgt = self._tgt[self._tgt_ends[index] : self._tgt_ends[index + 1]]
        return EncodedPair(src.tolist(), tgt.tolist())

    @property
    def fingerprint(self) -> str:
        """Same fingerprint, same pairs in the same order."""
        digest = hashlib.sha256()
        for path in self._paths:
            with open(path, "rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
        return digest.hexdigest()[:16]

    def lengths(self) -> list[int]:
        """The longer side of each pair, in tokens."""
        return torch.maximum(self._src_ends.diff(), self._tgt_ends.diff()).tolist()


def _map(path: Path, dtype: torch.dtype) -> Tensor:
    size = path.stat().st_size // dtype.itemsize
    if size == 0:  # an empty file cannot be mapped
        return torch.empty(0, dtype=dtype)
    return torch.from_file(str(path), shared=False, size=size, dtype=dtype)


class TokenBatchSampler:
    """Batches of similar length whose padded size stays within a budget.

    A pure function of (seed, epoch): shuffle, sort by length within pools, cut so that rows ×
    longest ≤ max_tokens, shuffle the batches. Every pair comes exactly once an epoch; the last,
    smaller batch is kept.

    Args:
        lengths: the longer side of each pair, in tokens; none above max_tokens
        max_tokens: budget of one batch, padding included
        seed: another seed, another order
        pool: pairs sorted together; larger pools pad less, smaller ones mix more
    """

    def __init__(
        self, lengths: Sequence[int], max_tokens: int, seed: int, pool: int = 4096
    ) -> None:
        assert max(lengths, default=0) <= max_tokens, "encode_pairs drops what exceeds the budget"
        self._lengths = lengths
        self._max_tokens = max_tokens
        self._seed = seed
        self._pool = pool

    def batches(self, epoch: int) -> list[list[int]]:
        """The index lists of one epoch, in order."""
        order = list(range(len(self._lengths)))
        rng = random.Random(f"{self._seed}/{epoch}")
        rng.shuffle(order)
        batches: list[list[int]] = []
        for start in range(0, len(order), self._pool):
            batches += self._cut(
                sorted(order[start : start + self._pool], key=self._lengths.__getitem__)
            )
        rng.shuffle(batches)
        return batches

    def _cut(self, by_length: Sequence[int]) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in by_length:  # ascending, so the newest is the longest
            if (len(batch) + 1) * self._lengths[index] > self._max_tokens:
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch


class Batch(NamedTuple):
    """A rectangle of pairs. Decoder input is bos y1 … yn, the labels are y1 … yn eos: one shifted
    against the other.
    """

    src: Tensor  # (B, S) int64
    tgt_in: Tensor  # (B, T) int64
    tgt_out: Tensor  # (B, T) int64
    real: Tensor  # (B, T) bool, True at real labels; made from the lengths, not from the ids

    @property
    def n_tokens(self) -> int:
        """Real target tokens, eos included."""
        return int(self.real.sum())

    @property
    def padding(self) -> float:
        """Share of source and target positions that hold padding."""
        filled = int((self.src != PAD_ID).sum()) + self.n_tokens
        return 1 - filled / (self.src.numel() + self.real.numel())


def collate(pairs: Sequence[EncodedPair]) -> Batch:
    """Encoded pairs -> one padded batch."""
    longest_src, longest_tgt = (
        max(len(pair.src) for pair in pairs),
        max(len(pair.tgt) for pair in pairs),
    )
    src = torch.tensor([pair.src + [PAD_ID] * (longest_src - len(pair.src)) for pair in pairs])
    tgt_out = torch.tensor([pair.tgt + [PAD_ID] * (longest_tgt - len(pair.tgt)) for pair in pairs])
    lengths = torch.tensor([len(pair.tgt) for pair in pairs])
    real = torch.arange(longest_tgt) < lengths[:, None]  # (B, T)
    shifted = [[BOS_ID, *pair.tgt[:-1]] for pair in pairs]
    tgt_in = torch.tensor([row + [PAD_ID] * (longest_tgt - len(row)) for row in shifted])
    return Batch(src, tgt_in, tgt_out, real)
