"""Search: ids in, ids out. Of a model it knows only `start`, `step` and what its cache can do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self, TypeVar

import torch
from torch import Tensor

from translator.picking import largest


class Cache(Protocol):
    """What a search asks of a decoder cache (`DecoderCache` says what each does)."""

    def select(self, rows: Tensor) -> Self: ...

    def reorder(self, rows: Tensor) -> Self: ...

    def repeat(self, k: int) -> Self: ...


AnyCache = TypeVar("AnyCache", bound=Cache)
AnyCache_co = TypeVar("AnyCache_co", bound=Cache, covariant=True)


class Step(Protocol[AnyCache_co]):
    """What a model answers: logits (B, V) of the next token, and the cache for the call after."""

    @property
    def logits(self) -> Tensor: ...

    @property
    def cache(self) -> AnyCache_co: ...


class Decodable(Protocol[AnyCache]):
    """A model that can be searched."""

    def start(self, src: Tensor) -> AnyCache: ...

    def step(self, tokens: Tensor, cache: AnyCache) -> Step[AnyCache]: ...


@dataclass(frozen=True, kw_only=True)
class SearchLimits:
    """Ids that mean something to a search, what it may write, and how much of it."""

    bos_id: int
    eos_id: int
    never: Sequence[int]  # ids that are never generated
    max_len: int  # the model's positions, bos included
    length_factor: float
    length_margin: int
    min_tokens: int = 0  # eos counts as none of them
    no_repeat_ngram: int = 0  # no run of so many tokens comes twice; 0 lets it

    def max_tokens(self, src_length: int) -> int:
        """Most tokens, eos included, for a source of S tokens: min(max_len - 1, factor · S +
        margin).
        """
        return max(
            1, min(self.max_len - 1, int(self.length_factor * src_length) + self.length_margin)
        )


class Hypothesis(NamedTuple):
    """One translation as ids, without bos and eos."""

    ids: list[int]
    score: float  # log-probability in nats, eos included, what was forced not
    finished: bool  # ended by eos itself; False when the limit cut it off


def allowed_log_probs(
    logits: Tensor,
    written: Sequence[Sequence[int]],
    prefixes: Sequence[Sequence[int]],
    limits: SearchLimits,
) -> Tensor:
    """Log-probabilities among the tokens that each row may write next.  (R, V) -> (R, V)

    Args:
        written: what each row has written so far
        prefixes: how each row has to begin; nothing when no row has to
    """
    never = torch.tensor(limits.never, dtype=torch.int64, device=logits.device)
    exact = logits.to(torch.promote_types(logits.dtype, torch.float32))
    allowed = exact.index_fill(1, never, -torch.inf)
    if limits.min_tokens or limits.no_repeat_ngram or prefixes:
        for row, ids in enumerate(written):
            _constrain(allowed[row], ids, prefixes[row] if prefixes else (), limits)
    return allowed.log_softmax(dim=-1)


def _constrain(
    logits: Tensor, ids: Sequence[int], prefix: Sequence[int], limits: SearchLimits
) -> None:
    """Rules out, in place, what one row that has written `ids` may not write next.  (V,)"""
    if len(ids) < len(prefix):
        logits.fill_(-torch.inf)
        logits[prefix[len(ids)]] = 0.0
        return
    repeats = _repeating(ids, limits.no_repeat_ngram)
    if repeats:
        logits[repeats] = -torch.inf
    if len(ids) < limits.min_tokens:
        ended = logits[limits.eos_id].clone()
        logits[limits.eos_id] = -torch.inf
        if logits.max() == -torch.inf:  # nothing else is left
            logits[limits.eos_id] = ended


def _repeating(ids: Sequence[int], n: int) -> list[int]:
    """The tokens with which the last n of `ids` would be what stands there already."""
    if not 0 < n <= len(ids):
        return []
    last = tuple(ids[len(ids) - n + 1 :])
    starts = range(len(ids) - n + 1)
    return [ids[start + n - 1] for start in starts if tuple(ids[start : start + n - 1]) == last]


@torch.no_grad()
def greedy_search(
    model: Decodable[AnyCache],
    src: Tensor,
    src_lengths: Sequence[int],
    limits: SearchLimits,
    *,
    prefixes: Sequence[Sequence[int]] = (),
) -> list[Hypothesis]:
    """Always the likeliest next token. A row that has ended leaves the batch; a row's result never
    depends on the others.

    Args:
        src: (B, S) int64, padded
        src_lengths: B real lengths, which bound the target's
        prefixes: how each translation has to begin; nothing of it is part of the score
    """
    ids: list[list[int]] = [[] for _ in src_lengths]
    scores = [0.0] * len(src_lengths)
    finished = [False] * len(src_lengths)
    budget = [limits.max_tokens(length) for length in src_lengths]

    alive = list(range(len(src_lengths)))  # the sentence of each row of the shrinking batch
    tokens = torch.full((len(alive),), limits.bos_id, device=src.device)  # (B,)
    cache = model.start(src)
    while alive:
        step = model.step(tokens, cache)
        cache = step.cache
        begin = [prefixes[i] for i in alive] if prefixes else []
        log_probs = allowed_log_probs(step.logits, [ids[i] for i in alive], begin, limits)  # (B, V)
        best, tokens = (picked.flatten() for picked in largest(log_probs, 1))  # 2 × (B,)
        ended = []
        for row, (sentence, token, score) in enumerate(
            zip(alive, tokens.tolist(), best.tolist(), strict=True)
        ):
            scores[sentence] += score
            if token == limits.eos_id:
                finished[sentence] = True
                ended.append(row)
                continue
            ids[sentence].append(token)
            if len(ids[sentence]) == budget[sentence]:
                ended.append(row)
        if ended:
            keep = _without(ended, len(alive))
            alive = [alive[row] for row in keep]
            rows = torch.tensor(keep, dtype=torch.int64, device=src.device)
            tokens, cache = tokens.index_select(0, rows), cache.select(rows)
    return [Hypothesis(*row) for row in zip(ids, scores, finished, strict=True)]


def _without(ended: Sequence[int], n_rows: int) -> list[int]:
    """The rows that go on. Most keep their place, so that a cache need not move them: the last ones
    fill the gaps.
    """
    n_left = n_rows - len(ended)
    spare = iter(sorted(set(range(n_left, n_rows)) - set(ended)))
    gone = set(ended)
    return [next(spare) if place in gone else place for place in range(n_left)]


class _Written(NamedTuple):
    """The "cache" of `Uncached`: everything there is to recompute from."""

    src: Tensor  # (B, S)
    tgt_in: Tensor  # (B, T)

    def select(self, rows: Tensor) -> "_Written":
        return _Written(self.src.index_select(0, rows), self.tgt_in.index_select(0, rows))

    def reorder(self, rows: Tensor) -> "_Written":
        return _Written(self.src, self.tgt_in.index_select(0, rows))

    def repeat(self, k: int) -> "_Written":
        return _Written(*(part.repeat_interleave(k, dim=0) for part in self))


class _UncachedStep(NamedTuple):
    logits: Tensor  # (B, V)
    cache: _Written


class Uncached:
    """A model that computes everything anew at each step: slow, and plainly right.

    Args:
        forward: (B, S), (B, T) -> logits (B, T, V)
    """

    def __init__(self, forward: Callable[[Tensor, Tensor], Tensor]) -> None:
        self._forward = forward

    def start(self, src: Tensor) -> _Written:
        """Nothing is computed yet.  (B, S) -> state"""
        return _Written(src, src[:, :0])

    def step(self, tokens: Tensor, cache: _Written) -> _UncachedStep:
        """(B,) -> (B, V)"""
        tgt_in = torch.cat((cache.tgt_in, tokens[:, None]), dim=1)  # (B, T + 1)
        logits = self._forward(cache.src, tgt_in)  # (B, T + 1, V)
        return _UncachedStep(logits[:, -1], _Written(cache.src, tgt_in))
