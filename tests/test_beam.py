import itertools
from dataclasses import replace

import pytest
import torch
from conftest import small_config
from test_decoding import LENGTHS, SRC, limits

from translator.beam import BeamOptions, beam_search
from translator.config import DecodingConfig
from translator.decoding import Uncached, greedy_search
from translator.model.transformer import Transformer
from translator.tokenizer import BOS_ID, EOS_ID


def ending(model):
    """An untrained model that ends some rows and not others."""
    with torch.no_grad():
        model.embedding.weight[EOS_ID] *= 3
    return model


def same(found, expected):
    assert [h.ids for h in found] == [h.ids for h in expected]
    assert [h.finished for h in found] == [h.finished for h in expected]
    assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-4)


@pytest.mark.fault("B72")
@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 2.0])
def test_a_beam_of_one_is_greedy_search(model, length_penalty):
    options = BeamOptions(beam_size=1, length_penalty=length_penalty)
    found = beam_search(ending(model), SRC, LENGTHS, limits(), options)
    same([best for [best] in found], greedy_search(model, SRC, LENGTHS, limits()))


def tiny(seed):
    """pad, unk, bos, eos and three tokens."""
    torch.manual_seed(seed)
    model = Transformer(small_config("x", "y").model, vocab_size=7).eval()
    with torch.no_grad():
        model.embedding.weight.normal_(std=0.6)
    return model


def exhaustive(model, src, budget, options):
    """Every translation there is, ranked: all runs of up to budget - 1 tokens, and eos."""
    found = []
    for length in range(budget):
        for ids in itertools.product((4, 5, 6), repeat=length):
            with torch.no_grad():
                logits = model(src, torch.tensor([[BOS_ID, *ids]]))[0]
            logits[:, [0, 1, 2]] = -torch.inf
            log_probs = logits.log_softmax(-1)
            score = sum(log_probs[t, token].item() for t, token in enumerate([*ids, EOS_ID]))
            found.append((options.normalized(score, length + 1), list(ids), score))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.5])
def test_a_wide_beam_is_exhaustive_search(seed, length_penalty):
    model, src = tiny(seed), torch.tensor([[4, 5, 6]])
    options = BeamOptions(beam_size=200, n_best=10, length_penalty=length_penalty)
    [found] = beam_search(model, src, [3], limits(length_factor=0.0, length_margin=4), options)
    expected = exhaustive(model, src, 4, options)[:10]
    assert [h.ids for h in found] == [ids for _, ids, _ in expected]
    assert [h.score for h in found] == pytest.approx([score for _, _, score in expected], abs=1e-4)
    assert all(h.finished for h in found)


@pytest.mark.parametrize("seed", range(6))
def test_a_narrow_beam_is_never_better_than_all_there_is_and_often_as_good(seed):
    model, src = tiny(seed), torch.tensor([[4, 5, 6]])
    options = BeamOptions(beam_size=4)
    [[best]] = beam_search(model, src, [3], limits(length_factor=0.0, length_margin=5), options)
    top = exhaustive(model, src, 5, options)
    ranks = {tuple(ids): rank for rank, (_, ids, _) in enumerate(top)}
    assert ranks[tuple(best.ids)] < 5


def test_batched_equals_alone_and_cached_equals_uncached(model):
    options = BeamOptions(beam_size=3, n_best=3)
    found = beam_search(ending(model), SRC, LENGTHS, limits(), options)
    for row, length in enumerate(LENGTHS):
        [alone] = beam_search(model, SRC[row : row + 1, :length], [length], limits(), options)
        same(found[row], alone)
    uncached = beam_search(Uncached(model), SRC, LENGTHS, limits(), options)
    for a, b in zip(found, uncached, strict=True):
        same(a, b)


def test_the_n_best_are_different_and_in_order(model):
    options = BeamOptions(beam_size=5, n_best=5)
    for hypotheses in beam_search(ending(model), SRC, LENGTHS, limits(), options):
        assert len(hypotheses) == 5
        assert len({tuple(h.ids) for h in hypotheses}) == 5
        ended = [options.normalized(h.score, len(h.ids) + 1) for h in hypotheses if h.finished]
        assert ended == sorted(ended, reverse=True)
        kinds = [h.finished for h in hypotheses]
        assert kinds == sorted(kinds, reverse=True), "cut ones only behind"


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_what_may_be_written(model, search):
    """At least so many tokens, no pair of them twice, and a given beginning."""

    def ids(**changes):
        prefixes = changes.pop("prefixes", ())
        bounds = limits(**changes)
        if search == "greedy":
            found = greedy_search(ending_model, SRC, LENGTHS, bounds, prefixes=prefixes)
        else:
            options = BeamOptions(beam_size=3)
            found = [
                best
                for [best] in beam_search(
                    ending_model, SRC, LENGTHS, bounds, options, prefixes=prefixes
                )
            ]
        return [hypothesis.ids for hypothesis in found]

    ending_model = ending(model)
    with torch.no_grad():
        model.embedding.weight[EOS_ID] *= 3  # ends at once wherever it may
    assert min(map(len, ids())) < 3
    assert min(map(len, ids(min_tokens=3))) == 3
    begun = ids(prefixes=[[7, 8], [], [9]])
    assert begun[0][:2] == [7, 8] and begun[2][:1] == [9]
    with torch.no_grad():
        model.embedding.weight[EOS_ID] *= -1  # and now never
    for row in ids(no_repeat_ngram=2, length_margin=9):
        pairs = list(itertools.pairwise(row))
        assert len(set(pairs)) == len(pairs)


def test_what_is_forced_has_no_part_in_the_score(model):
    [free, *_] = greedy_search(ending(model), SRC, LENGTHS, limits())
    begun = [free.ids[:1], [], []]
    [forced, *_] = greedy_search(model, SRC, LENGTHS, limits(), prefixes=begun)
    assert forced.ids == free.ids
    assert forced.score > free.score


def test_when_nothing_may_follow_it_ends(model):
    """Everything but eos is ruled out, and eos too: then eos it is."""
    never = [i for i in range(30) if i != EOS_ID]
    bounds = replace(limits(min_tokens=3), never=never)
    for search in (
        lambda: greedy_search(model, SRC, LENGTHS, bounds),
        lambda: [h for [h] in beam_search(model, SRC, LENGTHS, bounds, BeamOptions(beam_size=2))],
    ):
        assert [h.ids for h in search()] == [[], [], []]


@pytest.mark.fault("B72")
@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.5])
def test_the_best_is_the_same_whatever_else_is_asked_for(model, length_penalty):
    ending(model)
    options = BeamOptions(beam_size=5, length_penalty=length_penalty)
    alone = [best for best, *_ in beam_search(model, SRC, LENGTHS, limits(), options)]
    for n in (2, 5):
        several = beam_search(model, SRC, LENGTHS, limits(), replace(options, n_best=n))
        same([best for best, *_ in several], alone)


LATTICE = {(): {4: 0.55, 5: 0.45}, (4,): {EOS_ID: 0.6, 4: 0.4}, (5,): {6: 0.9, 5: 0.1}}
"""4 ends at once, 5 goes on to 6 and ends: short is likelier, long is likelier for each token."""


class Lattice:
    """A model that is a table: what may follow each beginning, and how likely it is. Everything
    else is impossible.
    """

    def __init__(self, following):
        self.following = following

    def start(self, src):
        return Written([()] * len(src))

    def step(self, tokens, cache):
        rows = [(*row, token) for row, token in zip(cache.rows, tokens.tolist(), strict=True)]
        logits = torch.full((len(rows), 8), -torch.inf)
        for n, row in enumerate(rows):
            following = self.following.get(row[1:], {EOS_ID: 0.8, 6: 0.2})  # row[0] is bos
            for token, probability in following.items():
                logits[n, token] = torch.tensor(probability).log()
        return LatticeStep(logits, Written(rows))


class Written:
    def __init__(self, rows):
        self.rows = rows

    def select(self, rows):
        return Written([self.rows[n] for n in rows.tolist()])

    reorder = select

    def repeat(self, k):
        return Written([row for row in self.rows for _ in range(k)])


class LatticeStep:
    def __init__(self, logits, cache):
        self.logits = logits
        self.cache = cache


@pytest.mark.fault("B70")
def test_a_larger_penalty_prefers_the_longer_one():
    """0.55 · 0.6 = 0.33 against 0.45 · 0.9 · 0.8 = 0.324: the short one wins by a hair at α = 0."""
    src, bounds = torch.tensor([[5, 3]]), limits(length_margin=6)
    lengths = []
    for alpha in (0.0, 0.2, 1.0):
        options = BeamOptions(beam_size=4, length_penalty=alpha)
        [[best]] = beam_search(Lattice(LATTICE), src, [2], bounds, options)
        lengths.append(len(best.ids))
    assert lengths == [1, 2, 2]


def searched(following, budget=8, **options):
    """What a beam finds in a lattice."""
    bounds = limits(length_factor=0.0, length_margin=budget)
    [found] = beam_search(
        Lattice(following), torch.tensor([[5, 3]]), [2], bounds, BeamOptions(**options)
    )
    return found


@pytest.mark.fault("B72")
def test_a_beam_of_one_ends_with_its_first_end():
    """As greedy search does, though at α = 10 a longer one would rank far above it."""
    following = {(): {EOS_ID: 0.6, 4: 0.4}, (4,): {EOS_ID: 1.0}}
    [best] = searched(following, beam_size=1, length_penalty=10.0)
    assert best.ids == []


def test_an_end_counts_only_among_the_first_k():
    """At [5] the end is third, with 0.22 behind 0.36 and 0.24, so two others are followed instead
    and one of them ends with 0.24.
    """
    following = {(): {4: 0.6, 5: 0.4}, (4,): {EOS_ID: 0.6, 6: 0.4}, (5,): {EOS_ID: 0.55, 6: 0.45}}
    following |= {(4, 6): {EOS_ID: 1.0}, (5, 6): {EOS_ID: 1.0}}
    found = searched(following, beam_size=2, n_best=2, length_penalty=0.0)
    assert [h.ids for h in found] == [[4], [4, 6]]


@pytest.mark.fault("B72")
@pytest.mark.parametrize(("length_penalty", "ids"), [(0.0, []), (1.0, [4] * 7)])
def test_the_search_goes_on_while_something_longer_could_win(length_penalty, ids):
    """At once: ln 0.6 = -0.51. Seven times 4: ln 0.4 = -0.92, at α = 1 over 13/6 only -0.42, but
    with one token -0.79 still.
    """
    chain = {(4,) * n: {4: 1.0} for n in range(1, 7)}
    following = {(): {EOS_ID: 0.6, 4: 0.4}, **chain, (4,) * 7: {EOS_ID: 1.0}}
    [best] = searched(following, beam_size=2, length_penalty=length_penalty)
    assert best.ids == ids


@pytest.mark.fault("B72")
def test_the_second_best_is_waited_for_too():
    """When [] and [4] are found, with 0.5 and 0.06, [4, 6] with 0.24 is still on its way."""
    following = {(): {EOS_ID: 0.5, 4: 0.3, 5: 0.2}, (4,): {6: 0.8, EOS_ID: 0.2}}
    following |= {(4, 6): {EOS_ID: 1.0}, (5,): {5: 1.0}}
    found = searched(following, beam_size=3, n_best=2, length_penalty=0.0)
    assert [h.ids for h in found] == [[], [4, 6]]


def test_what_the_limit_cuts_off_comes_likeliest_first():
    found = searched({(): {4: 0.6, 5: 0.4}}, budget=1, beam_size=2, n_best=2)
    assert [(h.ids, h.finished) for h in found] == [([4], False), ([5], False)]


def test_fewer_than_asked_for_when_there_are_no_more():
    """What cannot be is no translation."""
    for n in (1, 2):
        found = searched({(): {EOS_ID: 1.0}}, beam_size=n, n_best=n)
        assert [(h.ids, h.finished) for h in found] == [([], True)]


def test_a_beam_that_says_nothing_else_ranks_as_the_config_does():
    options, config = BeamOptions(beam_size=1), DecodingConfig()
    assert (options.n_best, options.length_penalty) == (config.n_best, config.length_penalty)


@pytest.mark.fault("B71")
def test_every_score_is_that_of_its_own_tokens(model):
    """Recomputed by one pass over the finished translation, whatever stood beside it."""
    options = BeamOptions(beam_size=4, n_best=4)
    for row, hypotheses in enumerate(beam_search(ending(model), SRC, LENGTHS, limits(), options)):
        for ids, score, finished in hypotheses:
            labels = [*ids, EOS_ID] if finished else ids
            with torch.no_grad():
                tgt_in = torch.tensor([[BOS_ID, *labels[:-1]]])
                logits = model(SRC[row : row + 1, : LENGTHS[row]], tgt_in)[0]
            logits[:, [0, 1, 2]] = -torch.inf
            log_probs = logits.log_softmax(-1)
            expected = sum(log_probs[t, token].item() for t, token in enumerate(labels))
            assert score == pytest.approx(expected, abs=1e-4)
    assert BeamOptions(beam_size=1, length_penalty=1.0).normalized(-6.0, 7) == pytest.approx(-3.0)


@pytest.mark.parametrize("sizes", [(0, 1), (2, 3), (2, 0)])
def test_more_results_than_hypotheses_are_refused(sizes):
    with pytest.raises(ValueError, match=r"n_best = \d results of beam_size = \d"):
        BeamOptions(beam_size=sizes[0], n_best=sizes[1])
