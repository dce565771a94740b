import pytest
import torch
from test_decoding import LENGTHS, SRC, limits

from translator.beam import BeamOptions, beam_search
from translator.compact import CompactModel
from translator.decoding import greedy_search
from translator.tokenizer import EOS_ID


@pytest.fixture
def ending(model):
    """In both orders of the norms; ends some rows and not others."""
    torch.manual_seed(5)
    with torch.no_grad():
        model.embedding.weight[EOS_ID] *= 3
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)  # biases and norms count too
    return model


@pytest.fixture(params=[True, False], ids=["shortlist", "all tokens"])
def compact(request, ending, monkeypatch):
    monkeypatch.setattr("translator.compact.has_fast_int8", lambda _: request.param)
    return CompactModel(ending)


def test_logits_equal_those_of_forward(ending, compact):
    """Step by step past the first room of the cache, padding in the source."""
    compact = compact.with_exact(30)
    tgt_in = torch.randint(4, 30, (3, 40))
    with torch.no_grad():
        expected = ending(SRC, tgt_in)
    cache = compact.start(SRC)
    for t in range(40):
        logits, cache = compact.step(tgt_in[:, t], cache)
        torch.testing.assert_close(logits, expected[:, t], atol=1e-4, rtol=1e-4)
    assert cache.length == 40


def test_a_shortlist_is_exact_at_its_top_and_near_elsewhere(ending, monkeypatch):
    monkeypatch.setattr("translator.compact.has_fast_int8", lambda _: True)
    compact = CompactModel(ending)
    tokens = torch.tensor([2, 2, 2])
    with torch.no_grad():
        expected = ending(SRC, tokens[:, None])[:, 0]
    for n_exact in (4, 8):
        compact = compact.with_exact(n_exact)
        found = compact.step(tokens, compact.start(SRC)).logits
        best = expected.topk(n_exact - 2).indices
        exact = expected.gather(1, best)
        torch.testing.assert_close(found.gather(1, best), exact, atol=1e-4, rtol=1e-4)
        assert (found - expected).abs().max() < 0.05 * expected.abs().max()


def test_rows_chosen_repeated_and_reordered(ending, compact):
    start, later = torch.full((3,), 2), torch.tensor([7, 8, 9])
    compact = compact.with_exact(30)

    def expected_of(rows, tokens):
        plain = ending.step(start, ending.start(SRC)).cache.select(torch.tensor(rows))
        with torch.no_grad():
            return ending.step(tokens, plain).logits

    for rows, change in (
        ([2, 0, 2], lambda cache: cache.select(torch.tensor([2, 0, 2]))),
        ([2, 0, 2], lambda cache: cache.repeat(2).select(torch.tensor([5, 0, 4]))),
        ([0, 2], lambda cache: cache.select(torch.tensor([0, 2]))),
        ([2, 1], lambda cache: cache.select(torch.tensor([2, 1]))),  # 2 fills the gap of 0
        ([1, 0], lambda cache: cache.select(torch.tensor([1, 0]))),
        ([0, 1], lambda cache: cache.select(torch.tensor([0, 1]))),
    ):
        _, cache = compact.step(start, compact.start(SRC))
        tokens = later[: len(rows)]
        found, _ = compact.step(tokens, change(cache))
        torch.testing.assert_close(found, expected_of(rows, tokens), atol=1e-4, rtol=1e-4)

    same = SRC[:1].repeat(2, 1)
    _, cache = compact.step(torch.tensor([5, 6]), compact.start(same))
    found, _ = compact.step(torch.tensor([7, 7]), cache.reorder(torch.tensor([1, 1])))
    plain = ending.step(torch.tensor([5, 6]), ending.start(same)).cache
    with torch.no_grad():
        expected = ending.step(torch.tensor([7, 7]), plain.reorder(torch.tensor([1, 1]))).logits
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_searches_find_the_same(ending, compact):
    options = BeamOptions(beam_size=3, n_best=2)
    compact = compact.with_exact(12)
    found = greedy_search(compact, SRC, LENGTHS, limits())
    expected = greedy_search(ending, SRC, LENGTHS, limits())
    assert [h.ids for h in found] == [h.ids for h in expected]
    assert [h.finished for h in found] == [h.finished for h in expected]
    assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=0.05)
    beams = beam_search(compact, SRC, LENGTHS, limits(), options)
    wanted = beam_search(ending, SRC, LENGTHS, limits(), options)
    assert [[h.ids for h in row] for row in beams] == [[h.ids for h in row] for row in wanted]


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_other_formats_round_only_a_little(ending, precision):
    exact, rounded = CompactModel(ending), CompactModel(ending, precision)
    exact, rounded = exact.with_exact(30), rounded.with_exact(30)
    tokens = torch.tensor([2, 2, 2])
    expected, _ = exact.step(tokens, exact.start(SRC))
    found, _ = rounded.step(tokens, rounded.start(SRC))
    difference = (found - expected).abs().max() / expected.abs().max()
    assert 0 < difference < 0.05


def test_it_does_not_reach_past_max_len(compact):
    cache = compact.start(SRC)
    for _ in range(48):
        _, cache = compact.step(torch.tensor([5, 5, 5]), cache)
    with pytest.raises(ValueError, match="49 tokens, but max_len = 48"):
        compact.step(torch.tensor([5, 5, 5]), cache)
    with pytest.raises(ValueError, match="50 tokens, but max_len = 48"):
        compact.start(torch.full((1, 50), 5))


def test_in_bfloat16_the_decoder_stays_exact(ending):
    exact, rounded = CompactModel(ending), CompactModel(ending, "bf16")
    tokens = torch.tensor([2, 2, 2])
    expected, _ = exact.step(tokens, exact.start(SRC))
    found, _ = rounded.step(tokens, exact.start(SRC))
    torch.testing.assert_close(found, expected, atol=0, rtol=0)
