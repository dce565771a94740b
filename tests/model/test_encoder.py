import pytest
import torch
from conftest import small_config
from test_attention import copied_from
from torch import nn

from translator.config import ModelConfig
from translator.model.dropout import Dropout
from translator.model.encoder import Encoder, EncoderLayer


def parity_config(norm_first: bool) -> ModelConfig:
    return ModelConfig(d_model=16, n_heads=4, d_ff=32, dropout=0.0, norm_first=norm_first)


def copy_block(ours: nn.Module, theirs: nn.Module) -> None:
    """Feed-forward weights and biases of a torch layer into one of ours."""
    ours.feed_forward.widen.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.narrow.load_state_dict(theirs.linear2.state_dict())


def randomized(layer: nn.Module) -> nn.Module:
    """Norms and biases away from 1 and 0, so that forgetting one of them shows."""
    with torch.no_grad():
        for parameter in layer.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return layer.eval()


def check_parity(norm_first: bool) -> None:
    torch.manual_seed(0)
    theirs = randomized(
        nn.TransformerEncoderLayer(16, 4, 32, 0.0, batch_first=True, norm_first=norm_first)
    )
    ours = EncoderLayer(parity_config(norm_first)).eval()
    ours.self_attn = copied_from(theirs.self_attn)
    copy_block(ours, theirs)
    ours.self_attn_norm.norm.load_state_dict(theirs.norm1.state_dict())
    ours.feed_forward_norm.norm.load_state_dict(theirs.norm2.state_dict())
    x = torch.randn(2, 5, 16)
    real = torch.tensor([[True] * 5, [True, True, True, False, False]])
    expected = theirs(x, src_key_padding_mask=~real)
    found = ours(x, real[:, None, None]).hidden
    torch.testing.assert_close(found[real], expected[real], atol=1e-5, rtol=1e-5)


def test_parity_with_torch_pre_norm():
    check_parity(norm_first=True)


def test_parity_with_torch_post_norm():
    check_parity(norm_first=False)


def test_the_stack_ends_in_a_norm_exactly_when_the_layers_normalise_first():
    assert isinstance(Encoder(parity_config(True)).norm, nn.LayerNorm)
    assert isinstance(Encoder(parity_config(False)).norm, nn.Identity)


def test_weights_of_every_layer_on_request():
    config = small_config("x", "y").model
    encoder = Encoder(config).eval()
    x = torch.randn(2, 4, 32)
    memory, weights = encoder(x, None, need_weights=True)
    assert [tuple(w.shape) for w in weights] == [(2, 4, 4, 4)] * 2
    plain = encoder(x, None)
    assert plain.self_weights == [None, None]
    torch.testing.assert_close(plain.memory, memory, atol=1e-5, rtol=1e-5)


def test_a_layer_shows_where_it_looked_only_when_asked():
    layer, x = EncoderLayer(parity_config(True)).eval(), torch.randn(2, 5, 16)
    assert layer(x, None).self_weights is None
    assert layer(x, None, need_weights=True).self_weights.shape == (2, 4, 5, 5)


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
def test_in_mixed_precision_the_memory_is_rounded_once_for_all_decoder_layers(norm_first):
    encoder, x = Encoder(parity_config(norm_first)).eval(), torch.randn(2, 5, 16)
    with torch.autocast("cpu", torch.bfloat16):
        assert encoder(x, None).memory.dtype == torch.bfloat16
    assert encoder(x, None).memory.dtype == torch.float32


def test_what_is_dropped_is_what_the_blocks_found(monkeypatch):
    """With all of it dropped, a pre-norm layer hands on what it was given."""
    monkeypatch.setattr(Dropout, "forward", lambda _, x: torch.zeros_like(x))
    x = torch.randn(2, 5, 16)
    assert EncoderLayer(parity_config(True)).train()(x, None).hidden.equal(x)
