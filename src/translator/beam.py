"""Beam search: several hypotheses of each sentence at a time, so that a token that looks good now
cannot spoil what comes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import torch
from torch import Tensor

from translator.decoding import (
    AnyCache,
    Decodable,
    Hypothesis,
    SearchLimits,
    allowed_log_probs,
)

NONE: Final = -torch.inf


@dataclass(frozen=True, kw_only=True)
class BeamOptions:
    """How wide a beam search is, and what it counts as best."""

    beam_size: int  # K, hypotheses of each sentence that are followed
    n_best: int = 1  # results of each sentence, at most beam_size
    length_penalty: float = 0.6  # α; 0 prefers short translations, 1 hardly minds the length

    def __post_init__(self) -> None:
        if not 1 <= self.n_best <= self.beam_size:
            raise ValueError(f"n_best = {self.n_best} results of beam_size = {self.beam_size}")

    def normalized(self, score: float, length: int) -> float:
        """The score by which hypotheses are ranked: score / ((5 + length) / 6)^α, eos counted.

        Wu et al. (2016), section 7.
        """
        return float(score / ((5 + length) / 6) ** self.length_penalty)


@dataclass
class _Sentence:
    """The search of one sentence: what it follows, and what it has found."""

    index: int  # in the batch
    budget: int  # most tokens, eos included
    prefix: Sequence[int]
    written: list[list[int]]  # K hypotheses
    scores: list[float]  # K, of what was chosen
    found: list[tuple[float, Hypothesis]] = field(default_factory=list)

    def done(self, options: BeamOptions) -> bool:
        """Whether nothing that is followed can still get among the n best, or enough was found."""
        length = len(self.written[0])
        nothing_left = max(self.scores) == NONE
        if nothing_left or len(self.found) >= options.beam_size or length >= self.budget:
            return True
        if len(self.found) < options.n_best:
            return False
        ranked = sorted((value for value, _ in self.found), reverse=True)
        # a score only falls; the penalty is at its best at one of the ends
        alive = max(self.scores)
        bound = max(options.normalized(alive, n) for n in (length + 1, self.budget))
        return ranked[options.n_best - 1] >= bound

    def results(self, options: BeamOptions) -> list[Hypothesis]:
        """The n best; what the limit cut off only where too little has ended by itself."""
        by_rank = sorted(self.found, key=lambda entry: -entry[0])
        best = [hypothesis for _, hypothesis in by_rank[: options.n_best]]
        cut = sorted(zip(self.scores, self.written, strict=True), key=lambda entry: -entry[0])
        for score, ids in cut[: options.n_best - len(best)]:
            if score > NONE:
                best.append(Hypothesis(ids, score, finished=False))
        return best


@torch.no_grad()
def beam_search(
    model: Decodable[AnyCache],
    src: Tensor,
    src_lengths: Sequence[int],
    limits: SearchLimits,
    options: BeamOptions,
    *,
    prefixes: Sequence[Sequence[int]] = (),
) -> list[list[Hypothesis]]:
    """The best translations of each sentence, best first; a sentence never depends on the others.

    Of each sentence's 2K likeliest continuations the first K that do not end it are followed; an
    end counts only among the first K. So a beam of one is greedy search, and no end wastes a place.

    Args:
        src: (B, S) int64, padded
        src_lengths: B real lengths, which bound the target's
        prefixes: how each translation has to begin
    """
    k = options.beam_size
    alive = [
        _Sentence(
            index=i,
            budget=limits.max_tokens(length),
            prefix=prefixes[i] if prefixes else (),
            written=[[] for _ in range(k)],
            scores=[0.0] + [NONE] * (k - 1),  # all K are the same at the start: one counts
        )
        for i, length in enumerate(src_lengths)
    ]
    results: list[list[Hypothesis]] = [[] for _ in alive]
    tokens = torch.full((len(alive) * k,), limits.bos_id, device=src.device)  # (B · K,)
    cache = model.start(src).repeat(k)
    while alive:
        step = model.step(tokens, cache)
        log_probs = allowed_log_probs(
            step.logits,
            [ids for sentence in alive for ids in sentence.written],
            [sentence.prefix for sentence in alive for _ in range(k)] if prefixes else [],
            limits,
        )  # (B · K, V)
        rows, following = _advance(alive, log_probs, limits, options)
        going_on = [n for n, sentence in enumerate(alive) if not sentence.done(options)]
        for sentence in alive:
            if sentence.done(options):
                results[sentence.index] = sentence.results(options)
        kept = [n * k + place for n in going_on for place in range(k)]
        parents = torch.tensor([rows[n] for n in kept], dtype=torch.int64, device=src.device)
        tokens = torch.tensor([following[n] for n in kept], dtype=torch.int64, device=src.device)
        everyone = len(going_on) == len(alive)
        cache = step.cache.reorder(parents) if everyone else step.cache.select(parents)
        alive = [alive[n] for n in going_on]
    return results


def _advance(
    alive: Sequence[_Sentence], log_probs: Tensor, limits: SearchLimits, options: BeamOptions
) -> tuple[list[int], list[int]]:
    """One token more for each sentence.  -> of each of its K new hypotheses the row that it
    continues, and its last token
    """
    k, n_tokens = options.beam_size, log_probs.size(1)
    scores = torch.tensor([s.scores for s in alive], device=log_probs.device)  # (B, K)
    totals = (scores[:, :, None] + log_probs.view(len(alive), k, n_tokens)).flatten(1)
    best, places = totals.topk(min(2 * k, totals.size(1)), dim=1)  # 2 × (B, 2K)
    rows: list[int] = []
    following: list[int] = []
    for n, sentence in enumerate(alive):
        candidates = zip(best[n].tolist(), places[n].tolist(), strict=True)
        chosen = list(_follow(sentence, candidates, n_tokens, limits, options))
        chosen += [(NONE, 0, limits.eos_id)] * (k - len(chosen))  # a tiny vocabulary
        sentence.written = [[*sentence.written[parent], token] for _, parent, token in chosen]
        sentence.scores = [score for score, _, _ in chosen]
        rows += [n * k + parent for _, parent, _ in chosen]
        following += [token for _, _, token in chosen]
    return rows, following


def _follow(
    sentence: _Sentence,
    candidates: Iterator[tuple[float, int]],
    n_tokens: int,
    limits: SearchLimits,
    options: BeamOptions,
) -> Iterator[tuple[float, int, int]]:
    """The first K continuations that do not end; ends among the first K are put by.  -> score,
    parent, token
    """
    followed = 0
    for rank, (score, place) in enumerate(candidates):
        parent, token = divmod(place, n_tokens)
        if score == NONE or followed == options.beam_size:
            return
        if token != limits.eos_id:
            followed += 1
            yield score, parent, token
        elif rank < options.beam_size:
            ids = sentence.written[parent]
            value = options.normalized(score, len(ids) + 1)
            sentence.found.append((value, Hypothesis(ids, score, finished=True)))
