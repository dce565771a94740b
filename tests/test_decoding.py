import pytest
import torch

from translator.decoding import SearchLimits, Uncached, greedy_search
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


def test_limits_by_hand():
    assert limits(length_factor=1.5, length_margin=2, max_len=100).max_tokens(5) == 9
    assert limits(length_factor=0.0, length_margin=1).max_tokens(5) == 1
    assert limits(max_len=4).max_tokens(50) == 3
