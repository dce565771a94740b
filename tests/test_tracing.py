import pytest
import torch
from conftest import PAIRS

from translator.as_json import looking_as_dict, trace_as_dict
from translator.looking import KINDS
from translator.tracing import trace

TEXT = PAIRS[0][0]


@pytest.fixture(scope="module")
def found(translator):
    return trace(translator, TEXT, "formal")


def test_the_steps_write_what_the_search_writes(found, translator):
    [translation] = translator.translate([TEXT])
    assert found.translation == translation.text
    assert [step.chosen for step in found.steps] == [*translation.pieces, "</s>"]
    total = 0.0
    for t, step in enumerate(found.steps):
        assert step.read == ("<s>", *translation.pieces)[: t + 1]
        probabilities = [candidate.probability for candidate in step.candidates]
        assert len(probabilities) == 5 and probabilities == sorted(probabilities, reverse=True)
        assert step.candidates[0].piece == step.chosen  # greedy takes the likeliest
        assert sum(step.looked) == pytest.approx(1, abs=1e-5)
        total += torch.tensor(probabilities[0]).log().item()
    assert total == pytest.approx(translation.score, abs=0.02)
    assert found.steps[-1].text == translation.text
    assert found.steps[0].text != translation.text


def test_the_shapes_are_those_of_the_running_model(found, translator):
    config, n_pieces = translator.config.model, translator.tokenizer.vocab_size
    n_source, n_target = len(found.looking.source.pieces), len(found.looking.read.pieces)
    by_name = {shapes.module: shapes for shapes in found.shapes}
    source, target = (1, n_source, config.d_model), (1, n_target, config.d_model)
    assert found.logits == (1, n_target, n_pieces)
    assert by_name[""].outputs == (found.logits,)
    assert by_name["encoder"].outputs == (source,)
    cross = by_name["decoder.layers.1.cross_attn"]
    assert cross.kind == "MultiHeadAttention" and cross.depth == 3
    assert cross.inputs == (target, source, source, (1, 1, 1, n_source))
    assert cross.outputs == (target,)
    own = by_name["decoder.layers.0.self_attn"]
    assert own.inputs == (target, target, target, (1, 1, n_target, n_target))
    names = [shapes.module for shapes in found.shapes]
    assert names.index("encoder.layers.1") < names.index("decoder.layers.0.self_attn")
    assert [name for name in names if name.startswith("encoder.layers.")][-1].startswith(
        f"encoder.layers.{config.n_encoder_layers - 1}"
    )
    for module in translator.model.modules():  # nothing stays behind
        assert not module._forward_hooks and not module._forward_pre_hooks


def test_masks_are_as_large_as_the_weights_and_hide_what_gets_none(found):
    for kind in KINDS:
        weights = found.looking.weights(kind)
        assert found.weights_shape(kind) == (1, *weights.shape[1:])
        assert found.masks[kind].shape == weights.shape[-2:]
        assert (weights[..., ~found.masks[kind]] == 0).all()
        assert (weights.amin(dim=(0, 1))[found.masks[kind]] > 0).all()
    assert not found.masks["decoder"].all() and found.masks["cross"].all()


def test_hooks_leave_even_when_the_model_fails(translator, monkeypatch):
    def broken(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(translator.model.decoder.layers[0].feed_forward.widen, "forward", broken)
    with pytest.raises(RuntimeError, match="broken"):
        trace(translator, TEXT, "formal")
    for module in translator.model.modules():
        assert not module._forward_hooks and not module._forward_pre_hooks


def test_nothing_to_trace(translator):
    with pytest.raises(ValueError, match="no text"):
        trace(translator, " \n", "formal")


def test_as_plain_values(found):
    plain = trace_as_dict(found) | looking_as_dict(found.looking)
    assert plain["translation"] == found.translation
    assert plain["masks"]["decoder"][0][:2] == [True, False]
    assert len(plain["steps"]) == len(plain["read"]) == len(plain["cross"][0][0])
    assert plain["steps"][0]["candidates"][0]["piece"] == plain["written"][0]
    assert [word["text"] for word in plain["source_words"]][:2] == ["<formal>", "I"]
    assert plain["weights"]["cross"] == [1, 4, len(plain["written"]), len(plain["source"])]
