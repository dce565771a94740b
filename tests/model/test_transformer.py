import io
import math
from dataclasses import replace

import pytest
import torch
from conftest import small_config

from translator.config import ModelConfig
from translator.model.transformer import Transformer

SRC = torch.tensor([[5, 6, 7, 8], [9, 10, 3, 0], [11, 3, 0, 0]])
TGT_IN = torch.tensor([[2, 12, 13, 14, 15], [2, 16, 17, 0, 0], [2, 18, 19, 20, 0]])


def test_the_three_attentions_of_the_chapter(model):
    """ "I am a student" (4 tokens) and "<s> 저는 학생" (3 tokens)."""
    maps = model.attention_maps(src=torch.tensor([[4, 5, 6, 7]]), tgt_in=torch.tensor([[2, 8, 9]]))
    n_layers, batch, n_heads = 2, 1, 4
    assert maps.encoder.shape == (n_layers, batch, n_heads, 4, 4)
    assert maps.decoder.shape == (n_layers, batch, n_heads, 3, 3)
    assert maps.cross.shape == (n_layers, batch, n_heads, 3, 4)
    for weights in maps:
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    assert (maps.decoder.triu(1) == 0).all(), "the future is masked"
    assert (maps.encoder > 0).all() and (maps.cross > 0).all(), "nothing else is"


def test_each_attention_hides_what_the_chapter_says(model):
    maps = model.attention_maps(SRC, TGT_IN)
    src_pad, tgt_pad = SRC == 0, TGT_IN == 0
    for row in range(3):
        assert (maps.encoder[:, row, :, :, src_pad[row]] == 0).all()
        assert (maps.cross[:, row, :, :, src_pad[row]] == 0).all()
        assert (maps.decoder[:, row, :, :, tgt_pad[row]] == 0).all()
    assert (maps.decoder.triu(1) == 0).all()
    torch.testing.assert_close(maps.cross.sum(-1), torch.ones(2, 3, 4, 5))


@pytest.mark.fault("B40")
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_the_future_cannot_change_the_past(model, training):
    model.train(training)
    for t in range(1, 5):
        changed = TGT_IN[:1].clone()
        changed[0, t] = 25
        before, after = model(SRC[:1], TGT_IN[:1]), model(SRC[:1], changed)
        torch.testing.assert_close(before[:, :t], after[:, :t])
        assert not torch.allclose(before[:, t], after[:, t], atol=1e-3)


@pytest.mark.fault("B40")
def test_padding_changes_nothing_and_real_source_tokens_do(model):
    for row, (s, t) in enumerate(((4, 5), (3, 3), (2, 4))):
        alone = model(SRC[row : row + 1, :s], TGT_IN[row : row + 1, :t])
        batched = model(SRC, TGT_IN)[row : row + 1, :t]
        torch.testing.assert_close(batched, alone, atol=1e-5, rtol=1e-5)
    longer_source = torch.nn.functional.pad(SRC, (0, 6))
    torch.testing.assert_close(
        model(longer_source, TGT_IN), model(SRC, TGT_IN), atol=1e-5, rtol=1e-5
    )
    for s in range(4):
        changed = SRC[:1].clone()
        changed[0, s] = 25
        assert not torch.allclose(model(changed, TGT_IN[:1]), model(SRC[:1], TGT_IN[:1]), atol=1e-3)


@pytest.mark.fault("B40")
@pytest.mark.parametrize(("s", "t"), [(9, 3), (3, 9)], ids=["source longer", "target longer"])
def test_no_gradient_flows_from_the_past_to_the_future(model, s, t):
    src, tgt_in = torch.randint(4, 30, (1, s)), torch.randint(4, 30, (1, t))
    embedded = model.embedding(tgt_in).detach().requires_grad_()
    memory = model.encoder(model.embedding(src), None).memory
    hidden = model.decoder(embedded, memory, model.tgt_mask(tgt_in), None).hidden
    (hidden[0, 1] @ torch.randn(32)).backward()
    assert (embedded.grad[0, 2:] == 0).all()
    assert embedded.grad[0, 0].norm() > 0 and embedded.grad[0, 1].norm() > 0


@pytest.mark.fault("B38")
@pytest.mark.fault("B39")
def test_step_equals_forward_at_every_position(model):
    """Ragged sources, several rows, and rows that change places on the way."""
    expected = model(SRC, TGT_IN)
    cache = model.start(SRC)
    order = torch.arange(3)
    for t in range(5):
        assert cache.length == t
        step = model.step(TGT_IN[order, t], cache)
        real = TGT_IN[order, t] != 0  # what follows padding means nothing
        torch.testing.assert_close(
            step.logits[real], expected[order[real], t], atol=1e-5, rtol=1e-5
        )
        moved = torch.tensor([2, 0, 1])
        order, cache = order[moved], step.cache.select(moved)


@pytest.mark.fault("B38")
def test_a_forced_prefix_of_two_tokens(model):
    cache = model.start(SRC[:1])
    for token in (2, 12):
        cache = model.step(torch.tensor([token]), cache).cache
    step = model.step(torch.tensor([13]), cache)
    torch.testing.assert_close(
        step.logits, model(SRC[:1], TGT_IN[:1, :3])[:, -1], atol=1e-5, rtol=1e-5
    )


@pytest.mark.fault("B36")
def test_a_source_of_nothing_but_padding_harms_nobody():
    torch.manual_seed(0)
    model = Transformer(small_config("x", "y").model, vocab_size=30)
    src, tgt_in = torch.tensor([[5, 6, 3], [0, 0, 0]]), torch.tensor([[2, 7], [2, 8]])
    logits = model(src, tgt_in)
    logits.sum().backward()
    assert logits.isfinite().all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    torch.testing.assert_close(logits[:1], model(src[:1], tgt_in[:1]), atol=1e-5, rtol=1e-5)


@pytest.mark.fault("B43")
def test_gradients_or_not_and_wide_padding_give_the_same(model):
    wide_src = torch.nn.functional.pad(SRC, (0, 3))  # every row is shorter than the padded width
    wide_tgt = torch.nn.functional.pad(TGT_IN, (0, 3))
    with torch.no_grad():
        without = model(wide_src, wide_tgt)
    assert without.shape == (3, 8, 30)
    torch.testing.assert_close(without, model(wide_src, wide_tgt))
    real = TGT_IN != 0
    torch.testing.assert_close(without[:, :5][real], model(SRC, TGT_IN)[real], atol=1e-5, rtol=1e-5)


@pytest.mark.fault("B44")
def test_one_embedding_for_source_target_and_output(model):
    matrices = [name for name, p in model.named_parameters() if p.shape[0] == 30]
    assert matrices == ["embedding.weight"], "one (V, D) matrix, so it is optimised once"
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    restored = Transformer(model.config, vocab_size=30).eval()
    restored.load_state_dict(torch.load(buffer, weights_only=True))
    for copy in (restored, restored.to("cpu", torch.float64).float()):
        torch.testing.assert_close(copy(SRC, TGT_IN), model(SRC, TGT_IN), atol=1e-5, rtol=1e-4)
    with torch.no_grad():
        restored.embedding.weight[29] = 0
    assert (restored(SRC, TGT_IN)[..., 29] == 0).all(), "the output follows the embedding"
    src_with_29 = torch.tensor([[29, 3]])
    assert not torch.allclose(
        restored(src_with_29, TGT_IN[:1]), model(src_with_29, TGT_IN[:1]), atol=1e-3
    ), "and so does the input"


@pytest.mark.fault("B44")
@pytest.mark.parametrize("vocab_size", [500, 8000])
def test_an_untrained_model_finds_every_token_about_equally_likely(vocab_size):
    torch.manual_seed(0)
    model = Transformer(replace(small_config("x", "y").model, d_model=128), vocab_size)
    src, tgt = torch.randint(4, vocab_size, (16, 12)), torch.randint(4, vocab_size, (16, 12))
    loss = torch.nn.functional.cross_entropy(
        model(src, tgt).flatten(0, 1), tgt.roll(-1, 1).flatten()
    )
    assert loss.item() == pytest.approx(math.log(vocab_size), rel=0.15)


@pytest.mark.fault("B46")
def test_asking_for_maps_changes_nothing(model):
    before = model(SRC, TGT_IN)
    model.attention_maps(SRC, TGT_IN)
    torch.testing.assert_close(model(SRC, TGT_IN), before, atol=0, rtol=0)


def test_maps_keep_no_gradient(model):
    """Else a picture would hold the whole pass in memory."""
    assert not any(weights.requires_grad for weights in model.attention_maps(SRC, TGT_IN))


def test_the_stacks_may_differ_in_height():
    """One decoder layer over three encoder layers: maps, `forward` and `step`."""
    torch.manual_seed(0)
    config = replace(small_config("x", "y").model, n_encoder_layers=3, n_decoder_layers=1)
    model = Transformer(config, vocab_size=30).eval()
    assert [len(weights) for weights in model.attention_maps(SRC, TGT_IN)] == [3, 1, 1]
    cache = model.step(TGT_IN[:, 0], model.start(SRC)).cache
    assert cache.length == 1
    torch.testing.assert_close(
        model.step(TGT_IN[:, 1], cache).logits, model(SRC, TGT_IN)[:, 1], atol=1e-5, rtol=1e-5
    )


def test_padding_is_the_id_that_was_named():
    """Not 0 as such: where pad_id is 1, ones at the end change nothing and zeros do."""
    torch.manual_seed(0)
    model = Transformer(small_config("x", "y").model, vocab_size=30, pad_id=1).eval()
    expected = model(SRC[:1], TGT_IN[:1])
    padded, longer = (torch.nn.functional.pad(SRC[:1], (0, 2), value=i) for i in (1, 0))
    torch.testing.assert_close(model(padded, TGT_IN[:1]), expected, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(model(longer, TGT_IN[:1]), expected, atol=1e-3)


def test_the_target_mask_is_made_where_the_target_is(model):
    """The meta device stands in for a GPU."""
    assert model.tgt_mask(TGT_IN.to("meta")).device.type == "meta"


def test_matrices_begin_as_glorot_says_and_biases_at_zero():
    """Variance 2 / (in + out), so that neither signals nor gradients grow on the way; the shared
    embedding keeps its own 1/√D.
    """
    torch.manual_seed(0)
    model = Transformer(small_config("x", "y").model, vocab_size=500)
    for name, parameter in model.named_parameters():
        if name == "embedding.weight":
            assert parameter.std().item() == pytest.approx(32**-0.5, rel=0.05)
        elif name.endswith("bias"):
            assert (parameter == 0).all(), name
        elif parameter.dim() == 2:
            assert parameter.var().item() == pytest.approx(2 / sum(parameter.shape), rel=0.2), name


def test_as_many_targets_as_sources(model):
    with pytest.raises(ValueError, match="1 sources, but 2 targets"):
        model(SRC[:1], TGT_IN[:2])


def test_shapes_without_numbers():
    """The meta device knows shapes only."""
    model = Transformer(small_config("x", "y").model, vocab_size=30).to("meta")
    src, tgt = (torch.ones(2, n, dtype=torch.int64, device="meta") for n in (5, 4))
    assert model(src, tgt).shape == (2, 4, 30)


@pytest.mark.parametrize("assign", [False, True])
def test_made_without_memory_and_filled_with_weights(assign):
    """The table of positions is no weight, so it has to come back by itself."""
    config = small_config("x", "y").model
    whole = Transformer(config, vocab_size=30).eval()
    with torch.device("meta"):
        empty = Transformer(config, vocab_size=30).eval()
    if not assign:
        empty.to_empty(device="cpu")
        empty.embedding.positions.fill_(7.0)  # whatever the memory held
    empty.load_state_dict(whole.state_dict(), assign=assign)
    assert torch.equal(empty(SRC, TGT_IN), whole(SRC, TGT_IN))


def test_loaded_in_another_number_format_positions_have_it_too(model):
    model.double().load_state_dict(model.state_dict())
    assert model.embedding.positions.dtype == torch.float64


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_made_in_another_number_format(dtype):
    torch.set_default_dtype(dtype)
    try:
        model = Transformer(small_config("x", "y").model, vocab_size=30)
        assert (
            model(torch.ones(1, 3, dtype=torch.int64), torch.ones(1, 2, dtype=torch.int64)).dtype
            == dtype
        )
    finally:
        torch.set_default_dtype(torch.float32)


def test_maps_are_of_pairs():
    model = Transformer(ModelConfig(d_model=16, d_ff=16), vocab_size=9).eval()
    with pytest.raises(ValueError, match="2 sources, but 1 targets"):
        model.attention_maps(
            torch.ones(2, 3, dtype=torch.int64), torch.ones(1, 3, dtype=torch.int64)
        )
