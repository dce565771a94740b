"""CTranslate2 beside PyTorch; these tests need the extra 'export'."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from conftest import PAIRS

from translator import checkpoint as checkpoints
from translator.checkpoint import Checkpoint, load_checkpoint
from translator.cli import main
from translator.config import DecodingConfig
from translator.exported import ExportError, is_exported, load_exported
from translator.inference import EngineError, Translator
from translator.metrics import EvaluationError
from translator.model.transformer import Transformer

pytest.importorskip("ctranslate2")

from translator.export import export_model

SENTENCES = [en for en, _, level in PAIRS if level == "formal"]
KOREAN = [ko for _, ko, level in PAIRS if level == "formal"]
ODD = ["salad", "?", "aaaaaaaa", "😀가", "I I I I", "where my teacher kitchen", "soup " * 20]


@pytest.fixture(scope="module")
def checkpoint(trained: Path) -> Checkpoint:
    return load_checkpoint(trained / "best.pt")


@pytest.fixture(scope="module")
def exported(checkpoint: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exports") / "exact"
    report = export_model(checkpoint, path, "float32", SENTENCES)
    assert (report.sentences, report.same_in_float32, report.same) == (len(SENTENCES),) * 3
    assert report.chrf == pytest.approx(100)
    return path


@pytest.mark.fault("B94")
def test_translates_as_pytorch_does(translator, exported):
    assert is_exported(exported)
    assert not is_exported(exported.parent)
    found = Translator.from_pretrained(exported)
    texts = found.translate([*SENTENCES, "", *ODD])
    wanted = translator.translate([*SENTENCES, "", *ODD])
    assert [t.text for t in texts[: len(SENTENCES)]] == KOREAN
    assert [t.ids for t in texts] == [t.ids for t in wanted]
    assert [t.finished for t in texts] == [t.finished for t in wanted]
    assert [t.score for t in texts] == pytest.approx([t.score for t in wanted], abs=0.05)
    assert [t.warnings for t in texts] == [t.warnings for t in wanted]
    assert found.describe() == "CTranslate2 on cpu, float32"


@pytest.mark.fault("B94")
@pytest.mark.parametrize("norm_first", [True, False])
def test_weights_of_chance_in_both_orders_of_the_norms(checkpoint, tmp_path, norm_first):
    """An untrained model writes on to the limit, where positions count; texts must be the same."""
    torch.manual_seed(1)
    config = replace(
        checkpoint.config, model=replace(checkpoint.config.model, norm_first=norm_first)
    )
    model = Transformer(config.model, checkpoint.tokenizer.vocab_size)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    random = replace(checkpoint, config=config, weights=model.state_dict())
    report = export_model(random, tmp_path / "out", "float32", [*SENTENCES, *ODD])
    assert report.same == report.sentences
    found = Translator.from_pretrained(tmp_path / "out").translate(["soup " * 40])[0]
    assert not found.finished
    assert len(found.ids) == config.model.max_len - 1


@pytest.mark.fault("B94")
def test_vocabulary_in_the_order_of_the_ids(exported, translator):
    model = load_exported(exported).model
    assert model._pieces == translator.tokenizer.pieces(range(translator.tokenizer.vocab_size))
    assert len(set(model._pieces)) == len(model._pieces)


@pytest.mark.fault("B94")
def test_int8_says_how_far_it_is(checkpoint, exported, tmp_path):
    report = export_model(checkpoint, tmp_path / "small", "int8", [*SENTENCES, *ODD])
    assert report.same_in_float32 == report.sentences
    assert report.same >= len(SENTENCES) and report.chrf <= 100
    small, exact = (path / "model.bin" for path in (tmp_path / "small", exported))
    assert small.stat().st_size < 0.4 * exact.stat().st_size
    found = Translator.from_pretrained(tmp_path / "small")
    assert found.describe() == "CTranslate2 on cpu, int8_float32"
    assert [t.text for t in found.translate(SENTENCES)] == KOREAN


def test_the_check_is_at_the_level_asked_for(checkpoint, tmp_path, monkeypatch):
    translate, levels = Translator.translate, []

    def noting(self, texts, style="none", **more):
        levels.append(style)
        return translate(self, texts, style, **more)

    monkeypatch.setattr(Translator, "translate", noting)
    export_model(checkpoint, tmp_path / "usual", "float32", SENTENCES)
    assert levels == ["formal"] * 2
    polite = [en for en, _, level in PAIRS if level == "polite"]
    export_model(checkpoint, tmp_path / "polite", "int8", polite, "polite")
    assert levels[2:] == ["polite"] * 3


def test_options_of_the_search(translator, exported):
    found = Translator.from_pretrained(exported)
    lines = [*SENTENCES[:3], "salad"]
    for changes in (
        {"min_tokens": 12},
        {"min_tokens": 12, "no_repeat_ngram": 2},
        {"length_margin": 1, "length_factor": 0.5},
        {"length_margin": 1, "length_factor": 0.5, "batch_size": 1},
    ):
        options = DecodingConfig(**changes)
        expected = translator.translate(lines, options=options)
        assert [t.ids for t in found.translate(lines, options=options)] == [
            t.ids for t in expected
        ], changes
    begun = found.translate(SENTENCES[:2], prefixes=["비가", "우리는"])
    wanted = translator.translate(SENTENCES[:2], prefixes=["비가", "우리는"])
    assert [t.ids for t in begun] == [t.ids for t in wanted]
    assert [t.text[:2] for t in begun] == ["비가", "우리"]
    several = found.translate(SENTENCES[:1], options=DecodingConfig(beam_size=4, n_best=3))[0]
    assert several.text == KOREAN[0]
    assert len(several.alternatives) == 2
    assert several.score > several.alternatives[0].score
    [ours] = translator.translate(SENTENCES[:1], options=DecodingConfig(beam_size=4, n_best=3))
    assert several.score == pytest.approx(ours.score, abs=0.02)  # the penalty is taken out again
    assert several.alternatives[0].score < ours.score - 0.1


def test_what_an_export_cannot_do_is_said(exported):
    found = Translator.from_pretrained(exported)
    with pytest.raises(EngineError, match="neither weights nor attention; load the checkpoint"):
        found.attention_maps("x", found.translate(["x"])[0], "formal")
    with pytest.raises(ExportError, match="without its cache"):
        found.translate(["x"], use_cache=False)
    with pytest.raises(ExportError, match="int8 has no effect on an exported model"):
        found.translate(["x"], options=DecodingConfig(precision="int8"))


def test_a_damaged_or_existing_directory_is_refused(checkpoint, exported, tmp_path):
    with pytest.raises(ExportError, match="exists already"):
        export_model(checkpoint, exported, "float32", SENTENCES)
    for name in ("model.bin", "tokenizer.model", "translator.yaml", "shared_vocabulary.json"):
        damaged = tmp_path / name
        damaged.mkdir()
        for file in exported.iterdir():
            (damaged / file.name).write_bytes(b"?" if file.name == name else file.read_bytes())
        with pytest.raises(ExportError, match="not a whole export"):
            load_exported(damaged)


def test_what_cannot_be_is_said_before_the_work(checkpoint, tmp_path, monkeypatch):
    path = tmp_path / "out"
    with pytest.raises(ExportError, match="unknown quantization 'int4'; choose from float32, int8"):
        export_model(checkpoint, path, "int4", SENTENCES)
    monkeypatch.setattr("translator.export.Translator", None)  # no work at all
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(EvaluationError, match="scores need sacrebleu"):
        export_model(checkpoint, path, "float32", SENTENCES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fault("B94")
def test_an_export_that_translates_otherwise_is_not_kept(checkpoint, tmp_path, monkeypatch):
    write = checkpoints.Checkpoint.build_model

    def other(self):
        model = write(self)
        with torch.no_grad():
            model.embedding.weight.mul_(-1)
        return model

    monkeypatch.setattr(checkpoints.Checkpoint, "build_model", other)  # PyTorch's side only
    with pytest.raises(
        ExportError, match=r"translates only 0 of .+; give .+ \(--sentences\), .+ \(--style\)"
    ):
        export_model(checkpoint, tmp_path / "out", "float32", SENTENCES)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_has_learned_nothing_is_not_exported(checkpoint, tmp_path):
    """Any two models that always say the same agree."""
    weights = {name: torch.zeros_like(weight) for name, weight in checkpoint.weights.items()}
    with pytest.raises(ExportError, match=r"translates all \d+ sentences as '.*', so a comparison"):
        export_model(replace(checkpoint, weights=weights), tmp_path / "o", "float32", SENTENCES)
    assert list(tmp_path.iterdir()) == []


def test_a_vocabulary_of_another_model_is_refused(exported, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(exported, other)
    pieces = json.loads((other / "shared_vocabulary.json").read_text(encoding="utf-8"))
    (other / "shared_vocabulary.json").write_text(json.dumps(pieces[::-1]), encoding="utf-8")
    with pytest.raises(ExportError, match="is another model's"):
        load_exported(other)


def test_the_number_format_of_the_checkpoint_is_not_that_of_the_export(checkpoint, tmp_path):
    """It would be refused at each translation."""
    config = checkpoint.config.override(["decoding.precision=int8"])
    export_model(replace(checkpoint, config=config), tmp_path / "o", "float32", SENTENCES)
    [found] = Translator.from_pretrained(tmp_path / "o").translate(SENTENCES[:1])
    assert found.text == KOREAN[0]


@pytest.mark.fault("B93")
def test_there_is_no_onnx_export_and_the_reason_is_written_down():
    assert "no ONNX export" in (sys.modules[export_model.__module__].__doc__ or "")
    with pytest.raises(SystemExit):
        main(["export", "--to", "onnx", "--out", "x"])
