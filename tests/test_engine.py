import copy
import inspect
import pickle
import pydoc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from conftest import PAIRS

from translator.compact import CompactModel
from translator.config import DecodingConfig
from translator.engine import EngineError, TorchEngine
from translator.inference import Translator
from translator.model.layers import FeedForward
from translator.unchanged import is_unchanged

ENGLISH = [en for en, _, level in PAIRS if level == "formal"]
KOREAN = [ko for _, ko, level in PAIRS if level == "formal"]


@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
def test_every_format_translates(translator, precision, monkeypatch):
    monkeypatch.setattr("translator.engine.check_precision", lambda *_: None)
    options = replace(translator.config.decoding, precision=precision)
    found = translator.translate(ENGLISH, options=options)
    assert [translation.text for translation in found] == KOREAN
    assert translator.describe(options).startswith(f"PyTorch on cpu, {precision}, ")


def test_the_layout_is_used_and_made_once(translator, monkeypatch):
    made = []

    class Counted(CompactModel):
        def __init__(self, *args):
            made.append(args[1])
            super().__init__(*args)

    monkeypatch.setattr("translator.engine.CompactModel", Counted)
    fresh = Translator(translator.model, translator.tokenizer, translator.config)
    for _ in range(3):
        fresh.translate(ENGLISH[:2])
    assert made == ["fp32"]
    fresh.translate(ENGLISH[:2], use_cache=False)
    assert made == ["fp32"]


def test_weights_that_change_reach_the_translations(translator):
    """As in validation during a training."""
    copied = type(translator.model)(translator.config.model, translator.tokenizer.vocab_size)
    copied.load_state_dict(translator.model.state_dict())
    mine = Translator(copied.eval(), translator.tokenizer, translator.config)
    before = mine.translate(ENGLISH[:1])[0]
    assert before.text == KOREAN[0]
    with torch.no_grad():
        copied.decoder.layers[0].cross_attn.w_q.weight.mul_(0.1)
    after = mine.translate(ENGLISH[:1])[0]
    anew = Translator(copied, translator.tokenizer, translator.config).translate(ENGLISH[:1])[0]
    assert after == anew
    assert after.score != before.score


def test_a_precision_that_the_processor_lacks_is_refused(translator, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {}, raising=False)
    for precision in ("bf16", "int8"):
        options = DecodingConfig(precision=precision)
        fresh = Translator(translator.model, translator.tokenizer, translator.config)
        with pytest.raises(EngineError, match=f"no instructions for {precision}; write fp32"):
            fresh.translate(ENGLISH[:1], options=options)


def test_elsewhere_the_model_itself_is_searched(model):
    """As on a GPU; the meta device stands in for one."""
    engine = TorchEngine(model.to("meta"))
    assert engine._laid_out(DecodingConfig()) is model
    with pytest.raises(EngineError, match="int8 is for the CPU, the model is on meta"):
        engine._laid_out(DecodingConfig(precision="int8"))
    assert engine.describe(DecodingConfig()) == "PyTorch on meta, fp32"


def test_a_wide_beam_sees_more_exact_logits(translator):
    engine = TorchEngine(translator.model)
    assert engine._laid_out(DecodingConfig()).n_exact == 8
    assert engine._laid_out(DecodingConfig(beam_size=10)).n_exact == 40


def test_fast_layout_readable_model_and_no_cache_agree(translator):
    """Three ways to the same text, greedy and beam."""
    lines = [*ENGLISH, "salad", "a b c d e f", "?"]
    for beam_size in (1, 4):
        options = replace(translator.config.decoding, beam_size=beam_size)
        fast = translator.translate(lines, options=options)
        plain = translator.translate(lines, options=options, use_cache=False)
        assert [found.ids for found in fast] == [found.ids for found in plain]
        assert [found.score for found in fast] == pytest.approx(
            [found.score for found in plain], abs=0.05
        )


def copy_of(translator):
    model = copy.deepcopy(translator.model)
    return Translator(model, translator.tokenizer, translator.config)


def test_a_model_that_somebody_changed_is_used_as_it_is(translator):
    """Its weights no longer say all about it: a hook, another class."""
    mine = copy_of(translator)
    copied = mine.model
    before = mine.translate(ENGLISH[:1])[0]
    hook = copied.decoder.layers[0].cross_attn.register_forward_hook(
        lambda _module, _inputs, output: output._replace(context=0 * output.context)
    )
    silenced = mine.translate(ENGLISH[:1])[0]
    assert silenced.score != before.score
    assert silenced.ids == mine.translate(ENGLISH[:1], use_cache=False)[0].ids
    with pytest.raises(EngineError, match="fp32"):
        mine.translate(ENGLISH[:1], options=replace(mine.config.decoding, precision="bf16"))
    hook.remove()
    assert mine.translate(ENGLISH[:1])[0] == before

    class Twice(FeedForward):
        def forward(self, x):
            return 2 * super().forward(x)

    for layer in copied.decoder.layers:
        layer.feed_forward.__class__ = Twice
    assert mine.translate(ENGLISH[:1])[0].score != before.score


def test_what_is_no_model_of_this_package_is_refused(translator):
    wrapped = torch.nn.Sequential(translator.model)
    with pytest.raises(TypeError, match="expected a Transformer or an exported model, got Sequen"):
        Translator(wrapped, translator.tokenizer, translator.config)
    with pytest.raises(TypeError, match="expected a Transformer or an exported model, got None"):
        Translator(None, translator.tokenizer, translator.config)


def other_norm(layer):
    layer.cross_attn_norm.norm_first = not layer.cross_attn_norm.norm_first


def other_heads(layer):
    layer.cross_attn.n_heads //= 2


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: setattr(layer, "feed_forward", torch.nn.Identity()),
        lambda layer: setattr(layer.feed_forward_norm, "norm", torch.nn.Identity()),
        lambda layer: setattr(layer.cross_attn, "w_k", torch.nn.Linear(32, 32, bias=False)),
        lambda layer: setattr(layer.feed_forward, "forward", torch.zeros_like),
        lambda layer: setattr(layer.feed_forward_norm.norm, "eps", 10.0),
        other_norm,
        other_heads,
    ],
)
def test_no_change_is_passed_over(translator, change):
    """Before the first translation and after it."""
    for used_before in (False, True):
        mine = copy_of(translator)
        before = translator.translate(ENGLISH[:1])[0]
        if used_before:
            assert mine.translate(ENGLISH[:1])[0] == before
        with torch.no_grad():
            change(mine.model.decoder.layers[0])
        changed = mine.translate(ENGLISH[:1])[0]
        assert changed.score != before.score
        assert changed == mine.translate(ENGLISH[:1], use_cache=False)[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda model: setattr(model.decoder, "norm", torch.nn.Identity()),
        lambda model: model.encoder.layers.__setitem__(0, model.decoder.layers[0]),
        lambda model: setattr(model.encoder, "norm", torch.nn.Linear(32, 32)),
    ],
)
def test_a_part_of_another_kind_in_a_stack_is_seen(translator, change):
    mine = copy_of(translator)
    assert is_unchanged(mine.model)
    change(mine.model)
    assert not is_unchanged(mine.model)


def test_dropout_that_is_on_a_patched_class_and_a_hook_on_all_are_seen(translator, monkeypatch):
    mine = copy_of(translator)
    before = mine.translate(ENGLISH[:1])[0]
    mine.model.train()
    assert not is_unchanged(mine.model)
    mine.model.eval()
    assert is_unchanged(mine.model)
    hook = torch.nn.modules.module.register_module_forward_hook(
        lambda module, _, out: out * 0 if isinstance(module, FeedForward) else None
    )
    with_hook = mine.translate(ENGLISH[:1])[0]
    hook.remove()
    assert mine.translate(ENGLISH[:1])[0] == before
    monkeypatch.setattr(FeedForward, "forward", lambda _, x: torch.zeros_like(x))
    patched = mine.translate(ENGLISH[:1])[0]
    assert with_hook.score == pytest.approx(patched.score) != before.score


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_weights_in_another_format(translator, dtype):
    mine = copy_of(translator)
    before = mine.translate(PAIRS[0][:1])[0]
    mine.model.to(dtype)
    assert mine.translate(PAIRS[0][:1])[0].text == before.text
    assert f"on cpu, {str(dtype).removeprefix('torch.')}, " in mine.describe()


def test_copies_of_a_used_translator(translator):
    before = translator.translate(ENGLISH)
    for copied in (copy.deepcopy(translator), pickle.loads(pickle.dumps(translator))):
        assert copied.translate(ENGLISH) == before


def test_inside_autocast_and_inference_mode(translator):
    before = translator.translate(ENGLISH)
    with torch.autocast("cpu", torch.bfloat16):
        assert translator.translate(ENGLISH) == before
    with torch.inference_mode():
        made_inside = copy_of(translator)
    assert made_inside.translate(ENGLISH) == before


def test_weights_that_come_back_rounded_or_at_another_place(translator):
    """Their version counters may be those of before."""
    mine = copy_of(translator)
    before = mine.translate(ENGLISH[:1])[0]
    mine.model.to(torch.bfloat16).to(torch.float32)
    scores = [before.score, mine.translate(ENGLISH[:1])[0].score]
    for _ in range(3):
        other = torch.nn.Parameter(mine.model.embedding.weight.detach() * 0.9)
        mine.model.embedding.weight = other
        scores.append(mine.translate(ENGLISH[:1])[0].score)
    mine.model.embedding.positions = mine.model.embedding.positions * 0
    scores.append(mine.translate(ENGLISH[:1])[0].score)
    assert len(set(scores)) == len(scores)


def test_threads_do_not_disturb_each_other(translator):
    engine = TorchEngine(translator.model)
    narrow, wide = (engine._laid_out(DecodingConfig(beam_size=k)) for k in (1, 8))
    assert (narrow.n_exact, wide.n_exact) == (8, 32)
    searches = [replace(translator.config.decoding, beam_size=k) for k in (1, 8, 2, 1)] * 4
    alone = [translator.translate(ENGLISH, options=options) for options in searches]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda o: translator.translate(ENGLISH, options=o), searches))
    assert found == alone


def test_a_tokenizer_of_another_model_is_refused(translator):
    model = type(translator.model)(translator.config.model, translator.tokenizer.vocab_size + 1)
    with pytest.raises(ValueError, match=r"the model has \d+ pieces, the tokenizer \d+"):
        Translator(model, translator.tokenizer, translator.config)


def test_who_only_looks_at_the_classes_changes_nothing(translator):
    """`help` and others make Python write into a class."""
    for kind in {type(part) for part in translator.model.modules()}:
        pydoc.render_doc(kind)
        inspect.getmembers(kind)
        assert kind.__annotations__ is not None and kind.__doc__
    assert is_unchanged(translator.model)


def test_one_thread_is_one(translator, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert translator.describe().endswith(", 1 thread")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert translator.describe().endswith(", 2 threads")
