import math
from itertools import pairwise

import pytest
import torch
from conftest import small_config

from translator.config import TrainConfig
from translator.model.transformer import Transformer
from translator.muon import Muon
from translator.optim import clip_gradients, learning_rate, make_optimizers, set_learning_rate


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


@pytest.mark.parametrize("warmup", [0, 1, 7])
def test_cosine_ends_at_zero_and_stays_there(warmup):
    config = TrainConfig(lr=1.0, warmup_steps=warmup, max_steps=8)
    assert [learning_rate(step, config) for step in (8, 9, 12, 1000)] == pytest.approx([0] * 4)


def test_weight_decay_is_for_the_matrices_of_the_blocks():
    model = Transformer(small_config("x", "y").model, vocab_size=30)
    [adamw] = make_optimizers(model, TrainConfig(weight_decay=0.3))
    decayed, others = adamw.param_groups
    assert decayed["weight_decay"] == 0.3 and others["weight_decay"] == 0.0
    assert all(p.dim() == 2 for p in decayed["params"])
    assert any(p is model.embedding.weight for p in others["params"])
    assert all(p.dim() == 1 or p is model.embedding.weight for p in others["params"])
    n_grouped = len(decayed["params"]) + len(others["params"])
    assert n_grouped == len(list(model.parameters())), "each parameter once"


def test_muon_has_the_matrices_of_the_blocks_and_adamw_the_rest():
    model = Transformer(small_config("x", "y").model, vocab_size=30)
    muon, adamw = make_optimizers(model, TrainConfig(optimizer="muon", weight_decay=0.3))
    assert isinstance(muon, Muon) and isinstance(adamw, torch.optim.AdamW)
    [matrices], [rest] = muon.param_groups, adamw.param_groups
    assert matrices["weight_decay"] == 0.3 and rest["weight_decay"] == 0.0
    names = {name for name, p in model.named_parameters() if p.dim() == 2}
    names.remove("embedding.weight")
    assert names == {
        name
        for name, parameter in model.named_parameters()
        if any(parameter is other for other in matrices["params"])
    }
    n_grouped = len(matrices["params"]) + len(rest["params"])
    assert n_grouped == len(list(model.parameters())), "each parameter once"


def test_two_updates_by_hand():
    """Adam with β 0.9 and 0.98 and ε 1e-9, the numbers of Vaswani et al. (2017), section 5.3."""
    model = torch.nn.Linear(1, 1)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    [optimizer] = make_optimizers(model, TrainConfig(lr=1.0, weight_decay=0.0))
    model.weight.grad, model.bias.grad = torch.ones(1, 1), torch.full((1,), 1e-9)
    optimizer.step()
    assert model.weight.item() == pytest.approx(-1, rel=1e-5)  # a whole rate, as usual
    assert model.bias.item() == pytest.approx(-0.5, rel=1e-4)  # half of it where that is ε
    model.weight.grad.zero_()
    optimizer.step()
    mean, square = 0.9 * 0.1 / (1 - 0.9**2), 0.98 * 0.02 / (1 - 0.98**2)
    assert model.weight.item() == pytest.approx(-1 - mean / math.sqrt(square), rel=1e-4)


def test_the_rate_reaches_every_group():
    model = torch.nn.Linear(2, 2)
    optimizers = [
        *make_optimizers(model, TrainConfig()),
        *make_optimizers(model, TrainConfig(optimizer="muon")),
    ]
    set_learning_rate(optimizers, 0.125)
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    assert [group["lr"] for group in groups] == [0.125] * 4


@pytest.mark.parametrize("most", [0.0, 0.5, 1e9])
def test_clipping_is_torchs(most):
    models = [torch.nn.Linear(5, 3) for _ in range(2)]
    for model in models:
        for n, parameter in enumerate(model.parameters(), 1):
            parameter.grad = torch.full_like(parameter, n / 10)
    norm = clip_gradients(models[0], most)
    wanted = torch.nn.utils.clip_grad_norm_(models[1].parameters(), most or math.inf)
    assert norm == pytest.approx(wanted.item())
    for ours, theirs in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)


def test_a_gradient_without_end_is_reported():
    model = torch.nn.Linear(2, 1)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, math.inf)
    assert clip_gradients(model, 1.0) == math.inf


def test_without_gradients_there_is_nothing_to_clip():
    assert clip_gradients(torch.nn.Linear(2, 1), 1.0) == 0.0


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_an_embedding_is_known_by_what_it_is(optimizer):
    """A wrapper such as torch.compile puts something before its name."""
    model = torch.nn.Sequential(Transformer(small_config("x", "y").model, vocab_size=30))
    matrices, rest = [
        group["params"]
        for one in make_optimizers(model, TrainConfig(optimizer=optimizer))
        for group in one.param_groups
    ]
    assert not any(p is model[0].embedding.weight for p in matrices)
    assert any(p is model[0].embedding.weight for p in rest)
