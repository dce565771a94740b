from itertools import pairwise

import pytest
import torch
from conftest import small_config

from translator.config import TrainConfig
from translator.model.transformer import Transformer
from translator.optim import learning_rate, make_optimizer, set_learning_rate


def rates(**settings):
    config = TrainConfig(lr=1.0, **settings)
    return [learning_rate(step, config) for step in range(1, config.max_steps + 1)]


@pytest.mark.fault("B50")
def test_the_table_of_rates():
    table = rates(warmup_steps=4, max_steps=8)
    assert table[:4] == [0.25, 0.5, 0.75, 1.0]
    assert table[4:] == pytest.approx([0.853553, 0.5, 0.146447, 0.0], abs=1e-6)
    assert rates(warmup_steps=4, max_steps=16, schedule="inverse_sqrt")[15] == 0.5


@pytest.mark.fault("B50")
@pytest.mark.parametrize("schedule", ["cosine", "inverse_sqrt"])
@pytest.mark.parametrize("warmup", [0, 1, 7, 8, 20])
def test_every_warmup_rises_strictly_and_peaks_once(schedule, warmup):
    table = rates(warmup_steps=warmup, max_steps=8, schedule=schedule)
    rising = table[: min(warmup, 8)]
    assert all(a < b for a, b in pairwise(rising))
    assert table[0] > 0
    assert max(table) <= 1.0
    if 1 <= warmup <= 8:
        assert table[warmup - 1] == 1.0
        assert table.count(1.0) == 1
    falling = table[max(warmup, 1) - 1 :]
    assert all(a > b for a, b in pairwise(falling))


def test_weight_decay_is_for_the_matrices_of_the_blocks():
    model = Transformer(small_config("x", "y").model, vocab_size=30)
    decayed, others = make_optimizer(model, TrainConfig(weight_decay=0.3)).param_groups
    assert decayed["weight_decay"] == 0.3 and others["weight_decay"] == 0.0
    assert all(p.dim() == 2 for p in decayed["params"])
    assert any(p is model.embedding.weight for p in others["params"])
    n_grouped = len(decayed["params"]) + len(others["params"])
    assert n_grouped == len(list(model.parameters())), "each parameter once"


def test_the_rate_reaches_every_group():
    model = torch.nn.Linear(2, 2)
    optimizer = make_optimizer(model, TrainConfig())
    set_learning_rate(optimizer, 0.125)
    assert [group["lr"] for group in optimizer.param_groups] == [0.125, 0.125]
