import copy
import math

import pytest
import torch
from conftest import small_config

from translator.batches import collate
from translator.distributed import ALONE
from translator.feed import Group
from translator.hardware import Precision
from translator.model.transformer import Transformer
from translator.store import EncodedPair
from translator.updating import Updater


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
@pytest.mark.parametrize(
    "broken", ["encoder.layers.0.feed_forward.narrow.bias", "embedding.weight"]
)
@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_in_fp16_a_gradient_that_is_not_finite_changes_nothing(optimizer, broken, value):
    """Wherever it stands; the scale falls, and the next step counts again."""
    config = small_config("x", "y", optimizer=optimizer, warmup_steps=0)
    model = Transformer(config.model, vocab_size=30).train()
    precision = Precision(torch.device("cpu"), torch.float32, "test")
    updater = Updater(config.train, model, precision, ALONE)
    updater._scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=1000)
    pair = EncodedPair([3, 5, 6, 2], [7, 8])
    group = Group([collate([pair])], [0], 1.0)
    updater.update(group, 1)
    before = copy.deepcopy(dict(model.state_dict()))
    hook = model.get_parameter(broken).register_hook(lambda grad: torch.full_like(grad, value))
    assert updater.update(group, 2).skipped == 1
    assert all(torch.equal(before[name], now) for name, now in model.state_dict().items())
    assert updater._scaler.get_scale() == 2.0
    hook.remove()
    assert updater.update(group, 3).skipped == 0
    assert not torch.equal(before["embedding.weight"], model.embedding.weight)
