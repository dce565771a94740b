"""The loop that people write around a model; plain_torch.py and hf.py share it."""

import argparse
import random
import statistics
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from participants.measuring import (
    CLIP_NORM,
    LABEL_SMOOTHING,
    MAX_TOKENS,
    SEED,
    WARMUP,
    BatchCounter,
    Dtype,
    Result,
    StepClock,
)

PAD_ID: Final = 1
BOS_ID: Final = 2
EOS_ID: Final = 3
LEARNING_RATE: Final = 3e-4


class Pair(NamedTuple):
    """Ids of one pair, each side closed by eos."""

    src: list[int]
    tgt: list[int]


class Batch(NamedTuple):
    """A rectangle of pairs. Decoder input is bos y1 … yn, the labels are y1 … yn eos."""

    src: Tensor  # (B, S)
    tgt_in: Tensor  # (B, T)
    labels: Tensor  # (B, T)


def run(
    name: str, model: nn.Module, optimizer: torch.optim.Optimizer, args: argparse.Namespace
) -> None:
    """Trains the model and prints what was measured. It takes `src` and `tgt_in` of a `Batch` and
    gives (B, T, V).
    """
    pairs = read_pairs(args.data)
    counter = BatchCounter(args.steps)
    losses = []
    with StepClock(args.steps) as clock:
        for batch in islice(batches(pairs, random.Random(SEED)), WARMUP + args.steps):
            source, target = (int((side != PAD_ID).sum()) for side in (batch.src, batch.labels))
            counter.add(source, target, batch.src.numel() + batch.labels.numel())
            losses.append(step(model, optimizer, batch, args.dtype))
    Result(
        name=name,
        dtype=args.dtype,
        target_tokens=counter.target_tokens,
        seconds=clock.seconds,
        padding=counter.padding,
        peak_rss_mb=clock.peak_rss_mb,
        loss_first=statistics.fmean(losses[:WARMUP]),
        loss_last=statistics.fmean(losses[-WARMUP:]),
        parameters=clock.parameters,
    ).print()


def step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch, dtype: Dtype) -> float:
    """One optimizer step; padding is computed and then ignored by the loss.  -> mean loss"""
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bf16"):
        logits = model(batch.src, batch.tgt_in)  # (B, T, V)
        loss = F.cross_entropy(
            logits.flatten(0, 1),
            batch.labels.flatten(),
            ignore_index=PAD_ID,
            label_smoothing=LABEL_SMOOTHING,
        )
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
    optimizer.step()
    return loss.item()


def read_vocabulary(data: Path) -> list[str]:
    """The pieces in the order of their ids."""
    return _lines(data / "vocab.txt")


def read_pairs(data: Path) -> list[Pair]:
    """The training pairs as ids."""
    ids = {piece: number for number, piece in enumerate(read_vocabulary(data))}
    src, tgt = (
        [[*(ids[piece] for piece in line.split(" ")), EOS_ID] for line in _lines(data / name)]
        for name in ("train.en", "train.ko")
    )
    return [Pair(*sides) for sides in zip(src, tgt, strict=True)]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def batches(pairs: Sequence[Pair], rng: random.Random) -> Iterator[Batch]:
    """Without end: sorted by length, cut at the budget, the batches of an epoch shuffled."""
    while True:
        order = sorted(rng.sample(pairs, len(pairs)), key=_longest)
        groups = list(_cut(order))
        rng.shuffle(groups)
        yield from map(_collate, groups)


def _longest(pair: Pair) -> int:
    return max(map(len, pair))


def _cut(order: Sequence[Pair]) -> Iterator[list[Pair]]:
    group: list[Pair] = []
    for pair in order:  # ascending, so the newest is the longest
        if (len(group) + 1) * _longest(pair) > MAX_TOKENS:
            yield group
            group = []
        group.append(pair)
    yield group


def _collate(group: Sequence[Pair]) -> Batch:
    return Batch(
        src=_rectangle([pair.src for pair in group]),
        tgt_in=_rectangle([[BOS_ID, *pair.tgt[:-1]] for pair in group]),
        labels=_rectangle([pair.tgt for pair in group]),
    )


def _rectangle(rows: Sequence[list[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD_ID] * (longest - len(row)) for row in rows])
