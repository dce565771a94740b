"""The batches of each optimizer step, for one of the processes that train together."""

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from translator.batches import Batch, TokenBatchSampler, collate
from translator.config import Config
from translator.distributed import Workers
from translator.events import Note
from translator.preparation import Material
from translator.resplit import Resplitter, possible_splits


class Group(NamedTuple):
    """What one process computes of one optimizer step."""

    batches: Sequence[Batch]
    indices: Sequence[int]  # the pairs of the whole step
    weight: float  # 0 when every batch of the step fell to another process, and this is a filler


class Feed:
    """The groups of every step of a run; which ones they are follows from config and step alone."""

    def __init__(self, config: Config, material: Material, workers: Workers) -> None:
        self._config = config
        self._store = material.train
        self._workers = workers
        self._sampler = TokenBatchSampler(
            material.train.lengths,
            material.sizes,
            config.train.max_tokens,
            config.train.seed,
            weights=config.data.weights,
        )
        self._resplitter = None
        if config.data.resplit:
            splits = possible_splits(material.tokenizer)
            self._resplitter = Resplitter(splits, config.data.resplit)

    def after(self, done: int) -> Iterator[Group]:
        """One group for each step from `done + 1` to `max_steps`."""
        settings = self._config.train
        size = settings.accumulate * self._workers.world_size
        epochs = map(self._sampler.batches, itertools.count())
        groups = itertools.chain.from_iterable(_grouped(batches, size) for batches in epochs)
        for step, batches in enumerate(itertools.islice(groups, settings.max_steps), 1):
            if step > done:
                yield self._group(batches, step)

    def _group(self, batches: Sequence[Sequence[int]], step: int) -> Group:
        """Every process takes each world_size-th batch, whatever their number."""
        own = range(self._workers.rank, len(batches), self._workers.world_size)
        collated = [self._collate(batches[n], f"{step}/{n}") for n in own or [0]]
        return Group(collated, [i for batch in batches for i in batch], float(bool(own)))

    def _collate(self, indices: Sequence[int], place: str) -> Batch:
        config = self._config
        pairs = [self._store[i] for i in indices]
        if self._resplitter is not None:
            rng = random.Random(f"{config.train.seed}/{place}")
            longest = min(config.model.max_len, config.train.max_tokens // len(pairs))
            pairs = [self._resplitter.pair(pair, rng, longest) for pair in pairs]
        return collate(pairs)


def epoch_note(config: Config, material: Material, n_processes: int) -> Note:
    """How long an epoch is, and so how often the run sees each pair; about, for how much of a batch
    is padding shows only when it is made.
    """
    settings = config.train
    weights = config.data.weights or (1.0,) * len(material.sizes)
    ends = list(itertools.accumulate(material.sizes, initial=0))
    tokens = sum(
        weight * material.train.n_tokens(start, end) / 2
        for weight, (start, end) in zip(weights, itertools.pairwise(ends), strict=True)
    )
    steps = max(1, round(tokens / (settings.max_tokens * settings.accumulate * n_processes)))
    epochs = settings.max_steps / steps
    shown = f"{epochs:.0f}" if epochs >= 10 else f"{epochs:.1f}"
    return Note(f"an epoch is about {steps} steps, train.max_steps about {shown} epochs")


def _grouped(batches: Iterator[list[int]], size: int) -> Iterator[list[list[int]]]:
    """`size` batches at a time; the last group of an epoch may be smaller."""
    group: list[list[int]] = []
    for batch in batches:
        group.append(batch)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group
