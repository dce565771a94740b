from dataclasses import replace

import pytest
import torch
from test_attention import copied_from
from test_encoder import copy_block, parity_config, randomized
from torch import nn

from translator.model.decoder import Decoder, DecoderLayer
from translator.model.dropout import Dropout
from translator.model.masks import causal_mask


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
def test_parity_with_torch(norm_first):
    torch.manual_seed(0)
    theirs = randomized(
        nn.TransformerDecoderLayer(16, 4, 32, 0.0, batch_first=True, norm_first=norm_first)
    )
    ours = DecoderLayer(parity_config(norm_first)).eval()
    ours.self_attn = copied_from(theirs.self_attn)
    ours.cross_attn = copied_from(theirs.multihead_attn)
    copy_block(ours, theirs)
    for name, norm in (
        ("self_attn_norm", theirs.norm1),
        ("cross_attn_norm", theirs.norm2),
        ("feed_forward_norm", theirs.norm3),
    ):
        getattr(ours, name).norm.load_state_dict(norm.state_dict())
    x, memory = torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    real = torch.tensor([[True] * 5, [True, True, True, False, False]])
    expected = theirs(x, memory, tgt_mask=~causal_mask(3)[0, 0], memory_key_padding_mask=~real)
    found = ours(x, memory, causal_mask(3), real[:, None, None]).hidden
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_weights_of_both_attentions_of_every_layer_on_request():
    decoder = Decoder(parity_config(True)).eval()
    x, memory = torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    asked = decoder(x, memory, None, None, need_weights=True)
    assert [tuple(w.shape) for w in asked.self_weights] == [(2, 4, 3, 3)] * 3
    assert [tuple(w.shape) for w in asked.cross_weights] == [(2, 4, 3, 5)] * 3
    plain = decoder(x, memory, None, None)
    assert plain.self_weights == plain.cross_weights == [None] * 3
    _, own, cross = decoder.layers[0](x, memory, None, None)
    assert own is None and cross is None


def test_every_layer_reads_the_same_memory():
    """Each layer's cross keys and values come from the last encoder layer, not the layer below."""
    torch.manual_seed(0)
    decoder = Decoder(parity_config(True)).eval()
    memory = torch.randn(2, 5, 16)
    cache = decoder.start(memory, torch.ones(2, 1, 1, 5, dtype=torch.bool))
    assert len(cache.layers) == 3
    for layer, (_, cross_kv) in zip(decoder.layers, cache.layers, strict=True):
        expected = layer.cross_attn.project(memory, memory)
        torch.testing.assert_close(cross_kv.key, expected.key)
        torch.testing.assert_close(cross_kv.value, expected.value)


def test_the_cache_is_a_value():
    """A step leaves the cache it was given as it was: both futures of one past can be tried."""
    torch.manual_seed(0)
    decoder = Decoder(parity_config(True)).eval()
    cache = decoder.start(torch.randn(1, 5, 16), torch.ones(1, 1, 1, 5, dtype=torch.bool))
    x = torch.randn(1, 1, 16)
    first = decoder.step(x, cache)
    again = decoder.step(x, cache)
    assert cache.length == 0
    assert first.cache.length == again.cache.length == 1
    torch.testing.assert_close(first.hidden, again.hidden)


def test_a_cache_of_a_lower_stack_is_refused():
    """Rather than leaving out the layers above."""
    decoder = Decoder(parity_config(True)).eval()
    cache = decoder.start(torch.randn(1, 5, 16), torch.ones(1, 1, 1, 5, dtype=torch.bool))
    with pytest.raises(ValueError, match="shorter"):
        decoder.step(torch.randn(1, 1, 16), replace(cache, layers=cache.layers[:2]))


def test_repeat_reorder_and_select():
    torch.manual_seed(0)
    decoder = Decoder(parity_config(True)).eval()
    mask = torch.tensor([[True] * 5, [True, True, True, False, False]])[:, None, None]
    cache = decoder.step(torch.randn(2, 1, 16), decoder.start(torch.randn(2, 5, 16), mask)).cache

    wide = cache.repeat(3)
    assert wide.memory_mask.shape[0] == 6
    for row in range(6):
        own, cross = wide.layers[0]
        torch.testing.assert_close(own.key[row], cache.layers[0].self_kv.key[row // 3])
        torch.testing.assert_close(cross.value[row], cache.layers[0].cross_kv.value[row // 3])
        assert torch.equal(wide.memory_mask[row], mask[row // 3])

    swapped = cache.select(torch.tensor([1, 0]))
    torch.testing.assert_close(swapped.layers[1].cross_kv.key[0], cache.layers[1].cross_kv.key[1])
    assert torch.equal(swapped.memory_mask[0], mask[1])

    past_only = cache.reorder(torch.tensor([1, 0]))
    torch.testing.assert_close(past_only.layers[1].self_kv.key[0], cache.layers[1].self_kv.key[1])
    torch.testing.assert_close(past_only.layers[1].cross_kv.key, cache.layers[1].cross_kv.key)


def test_what_is_dropped_is_what_the_blocks_found(monkeypatch):
    """With all of it dropped, a pre-norm layer hands on what it was given, step by step too."""
    monkeypatch.setattr(Dropout, "forward", lambda _, x: torch.zeros_like(x))
    layer = DecoderLayer(parity_config(True)).train()
    x, memory = torch.randn(2, 1, 16), torch.randn(2, 5, 16)
    assert layer(x, memory, None, None).hidden.equal(x)
    real = torch.ones(2, 1, 1, 5, dtype=torch.bool)
    assert layer.step(x, layer.start(memory), real).hidden.equal(x)


def test_hypotheses_that_change_places_keep_the_padding_of_their_source():
    decoder = Decoder(parity_config(True)).eval()
    real = torch.tensor([[True] * 5, [True, True, True, False, False]])[:, None, None]
    cache = decoder.start(torch.randn(2, 5, 16), real).repeat(2)
    swapped = cache.reorder(torch.tensor([1, 0, 3, 2]))
    assert swapped.memory_mask.equal(real.repeat_interleave(2, dim=0))
