import pytest
import torch
import torch.nn.functional as F

from translator.model.dropout import Dropout
from translator.model.layers import AddNorm, FeedForward, for_products


def test_dropout_zeroes_the_right_share_and_keeps_the_mean():
    torch.manual_seed(0)
    x = torch.ones(200, 501)
    out = Dropout(0.1).train()(x)
    zeroed = (out == 0).float().mean().item()
    assert abs(zeroed - 26 / 256) < 0.005
    assert abs(out.mean().item() - 1) < 0.005
    assert out[out != 0].unique().numel() == 1


def test_dropout_counts_single_values_of_a_byte():
    """At 255/256 one value of 256 is kept, and counts 256 times."""
    torch.manual_seed(0)
    out = Dropout(255 / 256).train()(torch.ones(5000))
    assert out.unique().tolist() == [0.0, 256.0]
    assert 5 < (out != 0).sum() < 50


def test_dropout_does_nothing_in_evaluation_or_at_zero():
    x = torch.randn(3, 5)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x


def test_dropout_differs_between_calls_and_follows_the_seed():
    x = torch.ones(100)
    dropout = Dropout(0.5).train()
    torch.manual_seed(3)
    first, second = dropout(x), dropout(x)
    torch.manual_seed(3)
    assert torch.equal(first, dropout(x))
    assert not torch.equal(first, second)


def test_dropout_sends_gradients_only_where_it_kept():
    torch.manual_seed(0)
    x = torch.ones(64, requires_grad=True)
    out = Dropout(0.5).train()(x)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


def test_feed_forward_treats_each_position_alone():
    torch.manual_seed(0)
    block = FeedForward(8, 32)
    x = torch.randn(2, 5, 8)
    torch.testing.assert_close(block(x)[:, 3:4], block(x[:, 3:4]))
    assert block.widen.out_features == 32


def test_the_two_orders_of_add_and_norm():
    torch.manual_seed(0)
    x, out = torch.randn(2, 2, 3, 8)
    before, after = AddNorm(8, 0.0, norm_first=True), AddNorm(8, 0.0, norm_first=False)
    torch.testing.assert_close(before.pre(x), before.norm(x))
    torch.testing.assert_close(before.post(x, out), x + out)
    assert after.pre(x) is x
    torch.testing.assert_close(after.post(x, out), after.norm(x + out))


def test_dropout_on_a_device_that_draws_no_64_bits():
    """On "meta" nothing is computed, so only the way there is seen."""
    found = Dropout(0.5).train()(torch.ones(3, 4, device="meta"))
    assert found.shape == (3, 4) and found.device.type == "meta"


def test_dropout_elsewhere_is_torchs_with_the_same_rounded_share(monkeypatch):
    """A CPU draws its bytes itself."""
    asked = []
    monkeypatch.setattr(F, "dropout", lambda x, p: asked.append((x.device.type, p)) or x)
    dropout = Dropout(0.1).train()
    for device in ("cpu", "meta"):
        dropout(torch.ones(3, 4, device=device))
    assert asked == [("meta", 26 / 256)]
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)  # no break in the graph
    dropout(torch.ones(3, 4))
    assert asked[1:] == [("cpu", 26 / 256)]
    assert str(dropout) == "Dropout(p=26/256)"


def test_dropout_falls_on_what_the_block_found_and_never_on_the_residual():
    torch.manual_seed(0)
    for norm_first in (True, False):
        block = AddNorm(8, 0.5, norm_first).train()
        block.norm = torch.nn.Identity()
        found = block.post(torch.full((2, 3, 8), 10.0), torch.ones(2, 3, 8))
        assert found.unique().tolist() == [10.0, 12.0]


def test_in_mixed_precision_blocks_read_rounded_numbers_and_the_residual_stays_exact():
    x, block = torch.randn(2, 3, 8), AddNorm(8, 0.0, norm_first=True)
    assert for_products(x) is x
    with torch.autocast("cpu", torch.bfloat16):
        seen = block.pre(x)
        assert seen.dtype == torch.bfloat16
        assert block.post(x, seen).dtype == torch.float32
    assert block.pre(x).dtype == torch.float32


@pytest.mark.parametrize("p", [-0.1, 1.0, 2.0, float("nan")])
def test_dropout_of_all_or_less_than_nothing_is_refused(p):
    with pytest.raises(ValueError, match="expected 0 to 255/256"):
        Dropout(p)
