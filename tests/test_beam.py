import itertools
from dataclasses import replace

import pytest
import torch
from conftest import small_config
from test_decoding import LENGTHS, SRC, limits

from translator.beam import BeamOptions, beam_search
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
            found = greedy_search(ending_model, SRC, LENGTHS, bounds, prefixes)
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
    [forced, *_] = greedy_search(model, SRC, LENGTHS, limits(), begun)
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
