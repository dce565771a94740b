import math

import pytest
import torch

from translator.decoding import SearchLimits, Uncached, allowed_log_probs, greedy_search
from translator.tokenizer import BOS_ID, EOS_ID

SRC = torch.tensor([[5, 6, 7, 8], [9, 10, 3, 0], [11, 3, 0, 0]])
LENGTHS = [4, 3, 2]


def limits(**changes):
    settings = {"never": [0, 1, 2], "max_len": 12, "length_factor": 1.0, "length_margin": 3}
    return SearchLimits(bos_id=BOS_ID, eos_id=EOS_ID, **{**settings, **changes})


def reference(model, src, limit):
    """Greedy decoding written the long way: one sentence, no cache, `forward` at each step."""
    ids, score = [], 0.0
    while True:
        logits = model(src, torch.tensor([[BOS_ID, *ids]]))[0, -1]
        logits[[0, 1, 2]] = -torch.inf
        best = logits.log_softmax(-1).max(-1)
        score += best.values.item()
        if best.indices.item() == EOS_ID:
            return ids, score, True
        ids.append(best.indices.item())
        if len(ids) == limit:
            return ids, score, False


@pytest.mark.fault("B39")
@pytest.mark.fault("B69")
def test_batched_with_cache_equals_alone_without(model):
    """Rows of different length, some ending early and leaving the batch."""
    with torch.no_grad():
        model.embedding.weight[EOS_ID] *= 3  # an untrained model then ends some rows and not others
    found = greedy_search(model, SRC, LENGTHS, limits())
    for row, length in enumerate(LENGTHS):
        with torch.no_grad():
            ids, score, finished = reference(model, SRC[row : row + 1, :length], limit=length + 3)
        assert found[row].ids == ids
        assert found[row].score == pytest.approx(score, abs=1e-4)
        assert found[row].finished == finished
    uncached = greedy_search(Uncached(model), SRC, LENGTHS, limits())
    assert [h.ids for h in uncached] == [h.ids for h in found]


class Scripted:
    """A model that always says the next token of a script, whatever it has written."""

    def __init__(self, rows):
        self.rows = rows
        self.batch_sizes = []

    def start(self, _):
        return ScriptedCache(list(range(len(self.rows))), 0)

    def step(self, tokens, cache):
        self.batch_sizes.append(len(tokens))
        logits = torch.zeros(len(tokens), 10)
        for i, row in enumerate(cache.rows):
            script = self.rows[row]
            logits[i, script[min(cache.position, len(script) - 1)]] = 5.0
        return ScriptedStep(logits, ScriptedCache(cache.rows, cache.position + 1))


class ScriptedCache:
    def __init__(self, rows, position):
        self.rows = rows
        self.position = position

    def select(self, rows):
        return ScriptedCache([self.rows[i] for i in rows.tolist()], self.position)


class ScriptedStep:
    def __init__(self, logits, cache):
        self.logits = logits
        self.cache = cache


def test_finished_rows_leave_the_batch_and_come_back_in_order():
    script = Scripted([[7, 7, EOS_ID], [EOS_ID], [8, EOS_ID]])
    found = greedy_search(script, torch.full((3, 2), 5), [9, 9, 9], limits())
    assert [h.ids for h in found] == [[7, 7], [], [8]]
    assert all(h.finished for h in found)
    assert script.batch_sizes == [3, 2, 1]


@pytest.mark.fault("B75")
def test_the_length_is_bounded_by_the_own_source():
    forever = Scripted([[7], [8]])
    found = greedy_search(forever, torch.full((2, 5), 5), [5, 2], limits(length_margin=1))
    assert [len(h.ids) for h in found] == [6, 3]
    assert not any(h.finished for h in found)
    capped = greedy_search(Scripted([[7]]), torch.full((1, 5), 5), [500], limits())
    assert len(capped[0].ids) == 11, "max_len 12, bos included"


def test_what_may_never_come_never_comes():
    wants_pad = Scripted([[0], [1], [2]])
    found = greedy_search(wants_pad, torch.full((3, 2), 5), [2, 2, 2], limits())
    assert not {0, 1, 2} & {i for h in found for i in h.ids}


@pytest.mark.parametrize(
    ("written", "n", "ruled_out"),
    [
        ([], 1, set()),
        ([7], 1, {7}),
        ([7, 8], 1, {7, 8}),
        ([7], 2, set()),
        ([7, 7], 2, {7}),
        ([7, 8], 2, set()),
        ([7, 8, 7], 2, {8}),
        ([7, 8, 7, 8], 3, {7}),
        ([7, 8, 9, 7, 8], 3, {9}),
        ([7, 8, 7, 8], 0, set()),
    ],
)
def test_what_would_repeat_a_run_of_tokens(written, n, ruled_out):
    """Exactly what would, from the first place where it can; n = 0 rules out nothing."""
    [found] = allowed_log_probs(torch.zeros(1, 10), [written], [()], limits(no_repeat_ngram=n))
    assert {token for token in range(10) if found[token] == -torch.inf} == {0, 1, 2} | ruled_out


def test_a_given_beginning_comes_before_every_ban():
    """Two equal tokens, though none may come twice; behind them the ban counts again."""
    bounds = limits(no_repeat_ngram=1)
    [found] = greedy_search(Scripted([[8]]), torch.full((1, 2), 5), [9], bounds, prefixes=[[7, 7]])
    assert found.ids[:3] == [7, 7, 8]
    assert 8 not in found.ids[3:] and math.isfinite(found.score)


def test_scores_are_computed_in_full_precision():
    """Seven of ten tokens are allowed and equally likely; bfloat16 would be off in the fourth
    digit.
    """
    logits = torch.zeros(1, 10, dtype=torch.bfloat16)
    [found] = allowed_log_probs(logits, [[]], [], limits())
    assert found[5].item() == pytest.approx(-math.log(7), abs=1e-6)


def test_limits_by_hand():
    assert limits(length_factor=1.5, length_margin=2, max_len=100).max_tokens(5) == 9
    assert limits(length_factor=0.0, length_margin=1).max_tokens(5) == 1
    assert limits(max_len=4).max_tokens(50) == 3


def test_where_nothing_is_forbidden_and_where_only_the_end_is_left():
    logits = torch.arange(6.0)[None]
    assert torch.isfinite(allowed_log_probs(logits, [[]], [], limits(never=[]))).all()
    only_eos = limits(never=[i for i in range(6) if i != EOS_ID], min_tokens=5)
    [found] = allowed_log_probs(logits, [[]], [], only_eos)
    assert found[EOS_ID] == 0 and (found == -torch.inf).sum() == 5
    [found] = allowed_log_probs(logits, [[]], [], limits(min_tokens=1))
    assert found[EOS_ID] == -torch.inf and torch.isfinite(found).any()
