import json
import math
import os
import re
import sys
from dataclasses import replace

import pytest
import torch
from conftest import PAIRS, small_config, write_tsv
from torch import nn

from translator import loss, objective, trainer, validation
from translator.batches import collate
from translator.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from translator.errors import UserError
from translator.events import Note, Started, StepReport, Stopped, ValidationReport
from translator.inference import Translator
from translator.loss import loss_sums
from translator.model.dropout import Dropout
from translator.model.transformer import Transformer
from translator.store import EncodedPair
from translator.textfile import DataError
from translator.tokenizer import EOS_ID, TokenizerError
from translator.trainer import train
from translator.updating import MOST_SKIPPED, Updater
from translator.validation import evaluating


def run(config, **how):
    return list(train(config, **how))


def notes_of(config):
    return [event.text for event in run(config) if isinstance(event, Note)]


def final_weights(run_dir):
    return load_checkpoint(run_dir / "last.pt").weights


def metrics(run_dir):
    lines = (run_dir / "metrics.jsonl").read_text(encoding="utf-8").strip().split("\n")
    return [json.loads(line) for line in lines]


def assert_same_weights(a, b):
    assert a.keys() == b.keys()
    assert all(torch.equal(a[name], b[name]) for name in a)


def test_it_learns_its_pairs_by_heart(translator):
    for level in ("formal", "polite"):
        pairs = [pair for pair in PAIRS if pair[2] == level]
        found = [t.text for t in translator.translate([pair[0] for pair in pairs], level)]
        assert found == [pair[1] for pair in pairs]


def test_events_and_files(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run").override(["data.dev_size=2"])
    events = run(config)
    notes = [event.text for event in events if isinstance(event, Note)]
    assert any(note.startswith("vocabulary: ") for note in notes)
    assert any(re.match(r"dev: [234] pairs \((formal|polite) \d", note) for note in notes)
    [started] = [event for event in events if isinstance(event, Started)]
    assert started.step == 0 and started.n_parameters > 10_000
    assert [e.step for e in events if isinstance(e, StepReport)] == [5, 10]
    validations = [e for e in events if isinstance(e, ValidationReport)]
    assert [v.step for v in validations] == [5, 10]
    assert all(v.samples[0].reference for v in validations)
    rows = metrics(tmp_path / "run")
    assert [(row["kind"], row["step"]) for row in rows] == [
        ("StepReport", 5),
        ("ValidationReport", 5),
        ("StepReport", 10),
        ("ValidationReport", 10),
    ]
    assert rows[3]["nll"] == validations[1].nll
    best = min(validations, key=lambda v: v.nll)
    assert load_checkpoint(tmp_path / "run" / "best.pt").step == best.step
    assert load_checkpoint(tmp_path / "run" / "last.pt").step == 10


@pytest.mark.fault("B16")
def test_three_pairs_and_a_large_batch(tmp_path):
    corpus = write_tsv(tmp_path / "three.tsv", PAIRS[:3])
    dev = write_tsv(tmp_path / "dev.tsv", PAIRS[3:4])
    config = small_config(corpus, tmp_path / "run", max_tokens=4096).override([f"data.dev={dev}"])
    events = run(config)
    losses = [event.loss for event in events if isinstance(event, StepReport)]
    assert 0 < losses[1] < losses[0]
    assert all(e.nll > 0 for e in events if isinstance(e, ValidationReport))


@pytest.mark.fault("B15")
def test_filters_that_leave_nothing_say_why(tmp_path, corpus):
    with pytest.raises(DataError, match=r"no pair is short enough; 14 pairs dropped: longer than"):
        run(small_config(corpus, tmp_path / "a").override(["model.max_len=4"]))
    empty = tmp_path / "empty.tsv"
    empty.write_text("")
    with pytest.raises(DataError, match=r"empty\.tsv: no usable pair; nothing in it"):
        run(small_config(empty, tmp_path / "b"))
    one_sided = tmp_path / "one.tsv"
    one_sided.write_text("Hello\t\n")
    with pytest.raises(
        DataError, match=r"1 pair dropped: empty Korean side \(first: .*one\.tsv:1\)"
    ):
        run(small_config(one_sided, tmp_path / "c"))
    with pytest.raises(DataError, match=r"data\.train: name at least one"):
        run(small_config(corpus, tmp_path / "d").override(["data.train=[]"]))


def test_a_hopeless_run_writes_nothing(tmp_path, corpus):
    with pytest.raises(DataError):
        run(small_config(tmp_path / "nowhere.tsv", tmp_path / "run"))
    with pytest.raises(TokenizerError):
        run(small_config(corpus, tmp_path / "run").override(["tokenizer.vocab_size=5"]))
    assert not (tmp_path / "run").exists()


@pytest.mark.fault("B59")
@pytest.mark.fault("B60")
def test_resumed_equals_uninterrupted(corpus, tmp_path):
    """With dropout, stopped in the middle of an epoch: the same weights, rates and reports."""
    settings = ["model.dropout=0.2", "train.max_tokens=64", "train.validate_every=3"]
    whole = small_config(corpus, tmp_path / "whole").override(settings)
    run(whole)
    parts = small_config(corpus, tmp_path / "parts").override(settings)
    for event in train(parts):
        if isinstance(event, ValidationReport) and event.step == 3:
            break  # as good as a kill: nothing after the save is written
    events = run(parts, resume=True)
    assert_same_weights(final_weights(tmp_path / "parts"), final_weights(tmp_path / "whole"))
    rates = [[row.get("lr") for row in metrics(tmp_path / name)] for name in ("whole", "parts")]
    assert rates[0] == rates[1]
    assert not [e for e in events if isinstance(e, StepReport) and e.step <= 3]
    done = run(parts, resume=True)
    assert done[-1] == Note("already done: 10 of 10 steps; raise train.max_steps to go on")


@pytest.mark.parametrize(
    "mistake", [["model.max_len=4"], ["tokenizer.vocab_size=5"], ["data.train=nowhere.tsv"]]
)
def test_a_mistake_with_overwrite_leaves_the_older_run(corpus, tmp_path, mistake):
    config = small_config(corpus, tmp_path / "run", max_steps=5)
    run(config)
    before = {p.name: p.read_bytes() for p in (tmp_path / "run").glob("*.*")}
    with pytest.raises(UserError):
        run(config.override(mistake), overwrite=True)
    assert {p.name: p.read_bytes() for p in (tmp_path / "run").glob("*.*")} == before


@pytest.mark.fault("B55")
def test_a_run_that_diverges_stops_and_keeps_what_it_had(corpus, tmp_path):
    """Weights that give no number are never saved, not even at a validation."""
    config = small_config(corpus, tmp_path / "run", lr=1e30, warmup_steps=0, max_steps=99)
    with pytest.raises(UserError, match=rf"step {MOST_SKIPPED + 1}, {MOST_SKIPPED} steps in a row"):
        run(config)
    assert not (tmp_path / "run" / "last.pt").exists()
    reports = [row for row in metrics(tmp_path / "run") if row["kind"] == "StepReport"]
    assert [row["skipped"] for row in reports] == [4, 5]
    assert reports[1]["loss"] is None


@pytest.mark.fault("B55")
def test_one_batch_that_gives_no_number_changes_nothing_but_the_count(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", validate_every=10)
    losses = iter([1.0, 1.0, math.nan, *[1.0] * 7])
    original = loss.projected_loss_sums

    def spy(hidden, table, labels, smoothing):
        sums = original(hidden, table, labels, smoothing)
        return sums._replace(loss=sums.loss * next(losses)) if smoothing else sums

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objective, "projected_loss_sums", spy)
        reports = [event for event in run(config) if isinstance(event, StepReport)]
    assert [report.skipped for report in reports] == [1, 0]
    assert all(math.isfinite(report.loss) for report in reports)
    weights = final_weights(tmp_path / "run")
    assert all(weight.isfinite().all() for weight in weights.values())


def test_resuming_with_another_corpus_is_refused(tmp_path):
    corpus = write_tsv(tmp_path / "pairs.tsv")
    config = small_config(corpus, tmp_path / "run")
    run(config.override(["train.max_steps=5"]))
    write_tsv(corpus, [*PAIRS, ("Yes.", "네.", "formal")])
    with pytest.raises(UserError, match="the corpus has changed since the run was stopped"):
        run(config, resume=True)


def test_a_dev_file_of_which_nothing_fits_is_an_error(corpus, tmp_path):
    long = write_tsv(tmp_path / "long.tsv", [("go " * 60, "가십시오.", "formal")])
    config = small_config(corpus, tmp_path / "run").override([f"data.dev={long}"])
    with pytest.raises(DataError, match=r"data\.dev: no pair is short enough"):
        run(config)


def test_samples_are_sentences_that_the_model_can_take(tmp_path):
    corpus = write_tsv(tmp_path / "c.tsv", [("go " * 60, "가십시오.", "formal"), *PAIRS])
    config = small_config(corpus, tmp_path / "run", max_steps=5)
    events = run(config.override(["decoding.too_long=error"]))
    [validation] = [event for event in events if isinstance(event, ValidationReport)]
    assert validation.samples[0].src == PAIRS[0][0]


def test_resuming_past_the_old_end_goes_on(corpus, tmp_path):
    run(small_config(corpus, tmp_path / "run"))
    longer = small_config(corpus, tmp_path / "run", max_steps=15)
    run(longer, resume=True)
    assert load_checkpoint(tmp_path / "run" / "last.pt").step == 15


def test_an_existing_run_is_not_touched_without_a_word(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", max_steps=5)
    run(config)
    before = (tmp_path / "run" / "last.pt").read_bytes()
    with pytest.raises(UserError, match="holds a run already"):
        run(config)
    assert (tmp_path / "run" / "last.pt").read_bytes() == before
    run(config, overwrite=True)


@pytest.mark.fault("B67")
def test_a_vocabulary_of_equal_size_but_other_pieces_is_refused(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", max_steps=5)
    run(config)
    other_corpus = write_tsv(
        tmp_path / "other.tsv",
        [(en.replace("student", "dentist"), ko, level) for en, ko, level in PAIRS],
    )
    run(small_config(other_corpus, tmp_path / "other", max_steps=5))
    theirs = load_checkpoint(tmp_path / "other" / "last.pt")
    save_checkpoint(tmp_path / "run" / "last.pt", theirs)
    with pytest.raises(CheckpointError, match=r"last\.pt has the vocabulary \w+, resume\.pt was"):
        run(small_config(corpus, tmp_path / "run", max_steps=8), resume=True)


@pytest.mark.fault("B49")
def test_accumulated_small_batches_equal_one_big_batch(corpus, tmp_path):
    """Unequal lengths, no dropout: the gradient is divided once, by all tokens of the step."""
    found = []
    original = torch.optim.AdamW.step

    def spy(self):
        found.append([p.grad.clone() for group in self.param_groups for p in group["params"]])
        return original(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.AdamW, "step", spy)
        whole = small_config(corpus, tmp_path / "whole", max_tokens=4096, max_steps=1)
        parts = small_config(corpus, tmp_path / "parts", max_tokens=40, max_steps=1, accumulate=99)
        for config in (whole, parts):
            run(config.override(["train.clip_norm=0"]))
    for big, accumulated in zip(*found, strict=True):
        torch.testing.assert_close(accumulated, big, atol=1e-6, rtol=1e-4)
    losses = [metrics(tmp_path / name)[0]["loss"] for name in ("whole", "parts")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_the_last_partial_group_is_applied(corpus, tmp_path):
    """A group larger than the epoch is the whole epoch, not nothing."""
    config = small_config(corpus, tmp_path / "run", max_tokens=64, accumulate=1000, max_steps=2)
    tokens = []
    original = Updater.update

    def spy(self, group, step):
        tokens.append(sum(batch.n_tokens for batch in group.batches))
        return original(self, group, step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Updater, "update", spy)
        run(config)
    assert tokens[0] == tokens[1] > 50


@pytest.mark.fault("B48")
def test_validation_does_not_depend_on_the_batch_size(corpus, tmp_path):
    found = set()
    for max_tokens in (48, 90, 4096):
        settings = [f"train.max_tokens={max_tokens}", "train.max_steps=1", f"data.dev={corpus}"]
        config = small_config(corpus, tmp_path / str(max_tokens)).override(
            [*settings, "train.lr=0"]
        )
        [report] = [event for event in run(config) if isinstance(event, ValidationReport)]
        found.add(round(report.nll, 4))
    assert len(found) == 1


@pytest.mark.fault("B48")
def test_validation_is_the_sum_over_real_tokens_divided_once(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", max_steps=1).override([f"data.dev={corpus}"])
    [report] = [event for event in run(config) if isinstance(event, ValidationReport)]
    checkpoint = load_checkpoint(tmp_path / "run" / "last.pt")
    model, total, n_tokens = checkpoint.build_model(), 0.0, 0
    for src, tgt, level in PAIRS:
        ids = checkpoint.tokenizer.encode_target(tgt)
        source = torch.tensor([checkpoint.tokenizer.encode_source(src, level)])
        with torch.no_grad():
            log_probs = model(source, torch.tensor([[2, *ids[:-1]]])).log_softmax(-1)[0]
        total -= sum(log_probs[t, token].item() for t, token in enumerate(ids))
        n_tokens += len(ids)
    assert report.nll == pytest.approx(total / n_tokens, rel=1e-5)


@pytest.mark.fault("B47")
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_more_padding_changes_no_loss(smoothing):
    torch.manual_seed(0)
    model = Transformer(small_config("x", "y").model, vocab_size=30).eval()
    pairs = [EncodedPair([5, 6, 3], [7, 8, 9, 10, EOS_ID]), EncodedPair([5, 3], [11, EOS_ID])]
    losses = []
    for width in (5, 6, 40):
        batch = collate(pairs)
        pad = (0, width - 5)
        wide = batch._replace(
            src=nn.functional.pad(batch.src, pad),
            tgt_in=nn.functional.pad(batch.tgt_in, pad),
            tgt_out=nn.functional.pad(batch.tgt_out, pad),
            real=nn.functional.pad(batch.real, pad),
        )
        hidden = model.hidden(wide.src, wide.tgt_in)
        logits = model.embedding.logits(hidden[wide.real])
        losses.append(loss_sums(logits, wide.tgt_out[wide.real], smoothing).loss.item())
    assert losses[1:] == pytest.approx(losses[:1] * 2, rel=1e-5)


@pytest.mark.fault("B51")
def test_dropout_is_at_work_after_each_validation(corpus, tmp_path):
    """Validation at every second step; each optimizer step finds the model in training mode."""
    config = small_config(corpus, tmp_path / "run", validate_every=2).override(
        ["model.dropout=0.5", f"data.dev={corpus}"]
    )
    modes = []
    original = Dropout.forward

    def spy(self, x):
        modes.append(self.training)
        return original(self, x)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dropout, "forward", spy)
        run(config)
    assert True in modes and False in modes
    assert modes[0] and any(modes[i] and not modes[i - 1] for i in range(1, len(modes)))


@pytest.mark.fault("B51")
def test_evaluating_gives_the_mode_back_even_after_an_error():
    model = nn.Linear(2, 2).train()
    with pytest.raises(RuntimeError), evaluating(model):
        assert not model.training and not torch.is_grad_enabled()
        raise RuntimeError
    assert model.training and torch.is_grad_enabled()
    with evaluating(model.eval()):
        pass
    assert not model.training


@pytest.mark.fault("B33")
@pytest.mark.fault("B34")
def test_one_pair_learned_by_heart_ends_by_itself(tmp_path):
    corpus = write_tsv(tmp_path / "one.tsv", PAIRS[:1])
    run(small_config(corpus, tmp_path / "run", max_steps=60, validate_every=60))
    [translation] = Translator.from_pretrained(tmp_path / "run").translate(["I am a student."])
    assert translation.text == "저는 학생입니다."
    assert translation.finished
    assert EOS_ID not in translation.ids


@pytest.mark.fault("B44")
def test_the_first_loss_is_that_of_a_guess(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", max_steps=1, label_smoothing=0.0)
    [first] = [event for event in run(config) if isinstance(event, StepReport)]
    vocab_size = load_checkpoint(tmp_path / "run" / "last.pt").tokenizer.vocab_size
    assert first.loss == pytest.approx(math.log(vocab_size), rel=0.15)


def test_bfloat16_trains_too(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", precision="bf16")
    losses = [event.loss for event in run(config) if isinstance(event, StepReport)]
    assert losses[1] < losses[0]
    assert all(w.dtype == torch.float32 for w in final_weights(tmp_path / "run").values())


def test_the_same_seed_gives_the_same_model(corpus, tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        run(small_config(corpus, tmp_path / name, seed=seed).override(["model.dropout=0.1"]))
    assert_same_weights(final_weights(tmp_path / "a"), final_weights(tmp_path / "b"))
    a, c = final_weights(tmp_path / "a"), final_weights(tmp_path / "c")
    assert not torch.equal(a["embedding.weight"], c["embedding.weight"])


@pytest.mark.fault("B59")
@pytest.mark.fault("B61")
@pytest.mark.parametrize("stop_at", [1, 4, 7])
def test_stopped_between_validations_and_resumed_equals_uninterrupted(corpus, tmp_path, stop_at):
    """Inside the warm-up and after it, in the middle of a window of reports; everything random."""
    settings = ["model.dropout=0.2", "train.max_tokens=64", "data.resplit=0.2", "data.noise=0.5"]
    settings += ["train.warmup_steps=5", "train.accumulate=2", "data.dev_size=2"]
    run(small_config(corpus, tmp_path / "whole").override(settings))
    parts = small_config(corpus, tmp_path / "parts").override(settings)
    asked = iter(range(1, 99))
    events = run(parts, stop=lambda: next(asked) >= stop_at)
    assert events[-1] == Stopped(step=stop_at)
    run(parts, resume=True)
    assert_same_weights(final_weights(tmp_path / "parts"), final_weights(tmp_path / "whole"))
    compared = ("step", "kind", "loss", "lr", "nll", "grad_norm", "padding", "best")
    found = [
        [[row.get(key) for key in compared] for row in metrics(tmp_path / name)]
        for name in ("whole", "parts")
    ]
    assert found[0] == found[1]


def test_saving_between_validations(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", validate_every=100, save_every=3, max_steps=8)
    saved = []
    for event in train(config.override(["train.log_every=1"])):
        if isinstance(event, StepReport) and (tmp_path / "run" / "last.pt").exists():
            saved.append(load_checkpoint(tmp_path / "run" / "last.pt").step)
    assert saved == [3, 3, 3, 6, 6]  # a report comes before the save of its step
    assert load_checkpoint(tmp_path / "run" / "last.pt").step == 8


@pytest.mark.fault("B56")
def test_the_best_is_known_again_after_resuming(corpus, tmp_path):
    """The first validation is made the best of all; nothing after the resumption may replace it."""
    config = small_config(corpus, tmp_path / "run", max_steps=5).override([f"data.dev={corpus}"])
    run(config)
    state = torch.load(tmp_path / "run" / "resume.pt", weights_only=True)
    state["judge"] = [0.001, 0]
    torch.save(state, tmp_path / "run" / "resume.pt")
    run(config.override(["train.max_steps=10"]), resume=True)
    assert load_checkpoint(tmp_path / "run" / "best.pt").step == 5
    assert load_checkpoint(tmp_path / "run" / "last.pt").step == 10


def scripted_scores(monkeypatch, values):
    """Validation gives these values of nll, one after the other."""
    values = iter(values)
    monkeypatch.setattr(trainer, "score", lambda *_: validation.Scores(next(values), None, ()))


def test_patience_ends_a_run_and_raising_it_goes_on(corpus, tmp_path, monkeypatch):
    config = small_config(corpus, tmp_path / "run", validate_every=1, patience=2, max_steps=50)
    scripted_scores(monkeypatch, [3.0, 2.0, 2.5, 2.0, 1.9, *[2.0] * 50])
    events = run(config)
    assert events[-1] == Note("stopped early: 2 validations without a better nll on dev")
    assert load_checkpoint(tmp_path / "run" / "last.pt").step == 4
    assert load_checkpoint(tmp_path / "run" / "best.pt").step == 2
    done = run(config, resume=True)
    assert done[-1].text.startswith("already done: 2 validations without")
    run(config.override(["train.patience=3"]), resume=True)
    assert load_checkpoint(tmp_path / "run" / "best.pt").step == 5
    assert load_checkpoint(tmp_path / "run" / "last.pt").step == 8


def kept_steps(run_dir):
    return [int(path.stem.split("-")[1]) for path in sorted(run_dir.glob("kept/*.pt"))]


@pytest.mark.fault("B68")
@pytest.mark.parametrize(
    ("which", "steps"), [("last", [3, 4, 5]), ("best", [1, 2, 4])], ids=["last", "best"]
)
def test_the_average_of_the_last_or_the_best(corpus, tmp_path, monkeypatch, which, steps):
    config = small_config(
        corpus, tmp_path / "run", validate_every=1, max_steps=5, average=3, average_of=which
    )
    scripted_scores(monkeypatch, [1.0, 2.0, 4.0, 3.0, 5.0, 0.5])
    run(config)
    run_dir = tmp_path / "run"
    assert kept_steps(run_dir) == steps
    parts = [load_checkpoint(run_dir / "kept" / f"step-{step:08}.pt").weights for step in steps]
    averaged = load_checkpoint(run_dir / "average.pt")
    for name, weight in averaged.weights.items():
        torch.testing.assert_close(weight, torch.stack([p[name] for p in parts]).mean(0))
    assert_same_weights(load_checkpoint(run_dir / "best.pt").weights, averaged.weights)
    assert averaged.metrics == {"nll": 0.5}
    assert load_checkpoint(run_dir / "last.pt").step == 5
    [row] = [row for row in metrics(run_dir) if row.get("nll") == 0.5]
    assert row["best"] and row["step"] == 5


def test_an_average_stays_the_best_after_resuming(corpus, tmp_path, monkeypatch):
    config = small_config(corpus, tmp_path / "run", validate_every=2, max_steps=4, average=2)
    scripted_scores(monkeypatch, [3.0, 2.0, 1.0, 1.5, 9.0])
    run(config)
    run(config.override(["train.max_steps=6"]), resume=True)
    best = load_checkpoint(tmp_path / "run" / "best.pt")
    assert best.step == 4 and best.metrics == {"nll": 1.0}


def test_what_is_not_saved_is_neither_called_saved_nor_the_best(corpus, tmp_path, monkeypatch):
    config = small_config(corpus, tmp_path / "run", validate_every=2, max_steps=6)
    scripted_scores(monkeypatch, [3.0, 1.0, 2.0])
    trusted = iter([True, True, False, False, True, True, True])  # the last step asks once more
    monkeypatch.setattr(Updater, "trusted", property(lambda _: next(trusted)))
    reports = [event for event in run(config) if isinstance(event, ValidationReport)]
    assert [report.saved for report in reports] == [True, False, True]
    assert [report.best for report in reports] == [True, False, True]
    assert load_checkpoint(tmp_path / "run" / "best.pt").step == 6


def test_what_is_known_at_the_start_is_said_at_the_start(corpus, tmp_path, monkeypatch):
    """Not at the first validation, when steps would be lost."""
    config = small_config(corpus, tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
        with pytest.raises(UserError, match="sacrebleu"):
            run(config.override(["train.judge=chrf"]))
    with monkeypatch.context() as patch:
        patch.setattr("translator.engine.has_fast_int8", lambda _: False)
        with pytest.raises(UserError, match="no instructions for int8"):
            run(config.override(["decoding.precision=int8"]))
    assert not (tmp_path / "run").exists()


def test_a_long_dev_sentence_does_not_stop_a_training(corpus, tmp_path):
    dev = write_tsv(tmp_path / "dev.tsv", [*PAIRS, ("go " * 60, "가십시오.", "formal")])
    config = small_config(corpus, tmp_path / "run", judge="chrf", max_steps=5)
    events = run(config.override([f"data.dev={dev}", "decoding.too_long=error"]))
    [report] = [event for event in events if isinstance(event, ValidationReport)]
    assert report.chrf is not None


def test_dev_sentences_that_are_also_learned_are_counted(corpus, tmp_path):
    new = ("Quite new.", "아주 새롭습니다.", "formal")
    dev = write_tsv(tmp_path / "dev.tsv", [*PAIRS[:1], new])
    events = run(small_config(corpus, tmp_path / "run", max_steps=1).override([f"data.dev={dev}"]))
    notes = [event.text for event in events if isinstance(event, Note)]
    assert any(note.startswith("dev: 1 of 2 English dev sentences") for note in notes)


def test_a_weight_that_leaves_no_pair_is_refused(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run").override(["data.weights=0.03"])
    with pytest.raises(DataError, match=r"weights: 0\.03 times the 14 pairs of .* is not one"):
        run(config)


def test_an_average_that_is_worse_does_not_become_the_best(corpus, tmp_path, monkeypatch):
    config = small_config(corpus, tmp_path / "run", validate_every=1, max_steps=3, average=2)
    scripted_scores(monkeypatch, [1.0, 2.0, 4.0, 3.0])
    run(config)
    assert load_checkpoint(tmp_path / "run" / "best.pt").step == 1
    assert (tmp_path / "run" / "average.pt").exists()


def test_an_average_that_was_not_finished_is_made_on_resuming(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", validate_every=2, average=2)
    run(config)
    averaged = (tmp_path / "run" / "average.pt").read_bytes()
    (tmp_path / "run" / "average.pt").unlink()
    run(config, resume=True)
    assert (tmp_path / "run" / "average.pt").read_bytes() == averaged
    run(config.override(["train.max_steps=14"]), resume=True)
    assert kept_steps(tmp_path / "run") == [12, 14]
    assert load_checkpoint(tmp_path / "run" / "average.pt").step == 14


def test_chrf_can_be_the_judge(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", judge="chrf", max_steps=120, validate_every=60)
    reports = [
        event
        for event in run(config.override([f"data.dev={corpus}"]))
        if isinstance(event, ValidationReport)
    ]
    assert 0 <= reports[0].chrf <= reports[1].chrf <= 100
    assert reports[1].chrf > 20
    assert load_checkpoint(tmp_path / "run" / "best.pt").metrics["chrf"] == max(
        report.chrf for report in reports
    )


@pytest.fixture
def tuned(corpus, tmp_path):
    """A run that goes on from another one, on other pairs, and both directories."""
    run(small_config(corpus, tmp_path / "first"))
    other = write_tsv(tmp_path / "other.tsv", [("Good night.", "안녕히 주무십시오.", "formal")])
    config = small_config(other, tmp_path / "second", init_from=str(tmp_path / "first"))
    return config, tmp_path / "first", tmp_path / "second"


def test_fine_tuning_starts_from_weights_and_vocabulary(tuned):
    config, first, second = tuned
    config = config.override(["model.d_model=64", "tokenizer.vocab_size=300", "train.lr=0"])
    events = run(config)
    [note] = [e.text for e in events if isinstance(e, Note) and e.text.startswith("starts from")]
    assert "d_model 32" in note and "only model.dropout counts" in note
    assert_same_weights(final_weights(second), load_checkpoint(first / "best.pt").weights)
    theirs, ours = load_checkpoint(first / "best.pt"), load_checkpoint(second / "last.pt")
    assert ours.tokenizer.fingerprint == theirs.tokenizer.fingerprint
    assert ours.config.model.d_model == 32


def test_the_number_format_of_the_other_model_is_not_taken_over(tuned):
    """This machine may lack the instructions for it."""
    config, first, second = tuned
    theirs = load_checkpoint(first / "best.pt")
    decoding = replace(theirs.config.decoding, precision="int8", split_above=7)
    save_checkpoint(
        first / "best.pt", replace(theirs, config=replace(theirs.config, decoding=decoding))
    )
    run(config.override(["train.max_steps=1"]))
    ours = load_checkpoint(second / "last.pt").config.decoding
    assert (ours.precision, ours.split_above) == ("fp32", 7)


def test_fine_tuning_never_ends_with_less_than_it_began_with(corpus, tmp_path):
    """What it starts from is judged too, and remains the best where training spoils it."""
    run(small_config(corpus, tmp_path / "first", max_steps=60))
    config = small_config(
        corpus, tmp_path / "second", init_from=str(tmp_path / "first"), lr=1.0, warmup_steps=0
    ).override([f"data.dev={corpus}", "train.average=3"])
    events = run(config)
    reports = [event for event in events if isinstance(event, ValidationReport)]
    assert Note("average of the checkpoints of steps 5, 10") in events, "not of the start"
    assert [(report.step, report.best) for report in reports] == [
        (0, True),
        (5, False),
        (10, False),
        (10, False),  # the average
    ]
    assert reports[0].nll < reports[1].nll
    theirs, ours = (load_checkpoint(tmp_path / n / "best.pt") for n in ("first", "second"))
    assert_same_weights(ours.weights, theirs.weights)
    assert metrics(tmp_path / "second")[0]["step"] == 0


def test_fine_tuning_keeps_the_way_of_decoding_unless_it_names_one(tuned):
    config, first, second = tuned
    theirs = load_checkpoint(first / "best.pt")
    decoding = replace(theirs.config.decoding, split_above=7)
    save_checkpoint(
        first / "best.pt", replace(theirs, config=replace(theirs.config, decoding=decoding))
    )
    run(config.override(["train.max_steps=1"]))
    assert load_checkpoint(second / "last.pt").config.decoding.split_above == 7
    run(config.override(["train.max_steps=1", "decoding.split_above=9"]), overwrite=True)
    assert load_checkpoint(second / "last.pt").config.decoding.split_above == 9


def test_fine_tuning_is_resumed_without_the_model_it_began_with(tuned):
    config, first, second = tuned
    run(config.override(["train.max_steps=5"]))
    for path in first.glob("*.pt"):
        path.unlink()
    run(config, resume=True)
    assert load_checkpoint(second / "last.pt").step == 10


def test_all_weights_are_trained(tuned):
    config, first, second = tuned
    events = run(config)
    before, after = load_checkpoint(first / "best.pt").weights, final_weights(second)
    assert all(not torch.equal(before[name], after[name]) for name in before)
    [started] = [event for event in events if isinstance(event, Started)]
    assert started.n_parameters == sum(weight.numel() for weight in after.values())


@pytest.mark.fault("B65")
def test_a_compiled_run_saves_plain_names(corpus, tmp_path, monkeypatch):
    """Compiled and plain runs resume each other; torch.compile itself is not put to the test."""

    class Compiled(nn.Module):
        def __init__(self, module):
            super().__init__()
            self._orig_mod = module

        def forward(self, *args):
            return self._orig_mod(*args)

    monkeypatch.setattr(torch, "compile", lambda module, **_: Compiled(module))
    plain = small_config(corpus, tmp_path / "plain")
    run(plain)
    for first, then in (("true", "false"), ("false", "true")):
        config = small_config(corpus, tmp_path / first)
        run(config.override([f"train.compile={first}", "train.max_steps=5"]))
        run(config.override([f"train.compile={then}"]), resume=True)
        assert_same_weights(final_weights(tmp_path / first), final_weights(tmp_path / "plain"))


def test_a_weighted_corpus_is_seen_as_often_as_asked(corpus, tmp_path):
    other = write_tsv(tmp_path / "other.tsv", [("Good night.", "안녕히 주무십시오.", "formal")])
    config = small_config(corpus, tmp_path / "run", max_steps=1, max_tokens=4096)
    config = config.override([f"data.train=[{corpus}, {other}]", "data.weights=[1, 3]"])
    groups = []
    original = Updater.update

    def spy(self, group, step):
        groups.append(group)
        return original(self, group, step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Updater, "update", spy)
        run(config)
    assert sorted(groups[0].indices) == [*range(14), 14, 14, 14]


def test_a_run_dir_in_use_is_refused(corpus, tmp_path):
    """Before anything in it is touched; the run that has it goes on."""
    config = small_config(corpus, tmp_path / "run")
    first = train(config)
    next(event for event in first if isinstance(event, StepReport))
    for way in ({}, {"overwrite": True}, {"resume": True}):
        with pytest.raises(UserError, match="another process trains here"):
            next(train(config, **way))  # before any work
    assert isinstance(list(first)[-1], ValidationReport)


@pytest.mark.fault("B54")
def test_fp16_on_a_cpu_is_refused_with_a_reason(corpus, tmp_path):
    with pytest.raises(UserError, match=r"train\.precision: fp16 is for CUDA"):
        run(small_config(corpus, tmp_path / "run", precision="fp16", device="cpu"))
    assert not (tmp_path / "run").exists()


@pytest.mark.fault("B30")
def test_texts_too_long_for_the_vocabulary_are_counted(tmp_path):
    """5,500 syllables of three bytes each."""
    corpus = write_tsv(tmp_path / "c.tsv", [*PAIRS, ("Long.", "가" * 5500, "formal")])
    events = run(small_config(corpus, tmp_path / "run", max_steps=1))
    notes = [event.text for event in events if isinstance(event, Note)]
    assert any(note.endswith("learned without 1 texts above 16384 bytes") for note in notes)
    assert any("1 pair dropped: longer than model.max_len" in note for note in notes)
    for name in ("best.pt", "last.pt", "resume.pt"):
        (tmp_path / "run" / name).unlink()
    write_tsv(corpus, [("가" * 6000, "나" * 6000, "formal")])
    with pytest.raises(TokenizerError, match="every one is empty or above 16384 bytes"):
        run(small_config(corpus, tmp_path / "run"))


def test_copies_with_noise_are_counted_apart(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", max_steps=1)
    plain, noisy = (
        next(note for note in notes_of(config.override(settings)) if note.startswith("train: "))
        for settings in ([], ["data.noise=1", f"train.run_dir={tmp_path / 'noisy'}"])
    )
    n_pairs = int(plain.split()[1])
    assert "copies" not in plain
    [(total, copies)] = re.findall(r"train: (\d+) pairs, (\d+) copies with noise among", noisy)
    assert int(copies) > 0 and int(total) == n_pairs + int(copies)


def test_only_what_is_kept_is_counted(tmp_path):
    """Twenty pairs are too long, so are their copies."""
    long = [(f"{'Come and see. ' * 30}{n}", "와서 보십시오.", "formal") for n in range(20)]
    corpus = write_tsv(tmp_path / "long.tsv", [*PAIRS, *long])
    config = small_config(corpus, tmp_path / "run", max_steps=1).override(["data.noise=1"])
    [note] = [note for note in notes_of(config) if re.match(r"train: \d+ pairs, ", note)]
    total, copies = map(int, re.findall(r"\d+", note)[:2])
    assert copies > 0 and total == len(PAIRS) + copies
    assert sum(map(int, re.findall(r"[a-z]+ (\d+)", note.partition("(")[2]))) == total


def test_a_corpus_without_the_default_level_is_said_so(tmp_path):
    polite = write_tsv(tmp_path / "polite.tsv", [pair for pair in PAIRS if pair[2] == "polite"])
    notes = notes_of(small_config(polite, tmp_path / "run", max_steps=1))
    assert any(note.endswith("translate with --style polite") for note in notes)
    both = write_tsv(tmp_path / "both.tsv", PAIRS)
    notes = notes_of(small_config(both, tmp_path / "run2", max_steps=1))
    assert not any("hardly any" in note for note in notes)
    assert any(note.startswith("an epoch is about ") for note in notes)


@pytest.mark.fault("B04")
def test_a_decoding_setting_without_effect_is_named(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run", max_steps=1)
    events = run(config.override(["decoding.length_penalty=2"]))
    assert Note("decoding.length_penalty has no effect in greedy search; raise beam_size") in events


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as POSIX has them")
def test_a_pipe_is_no_corpus(tmp_path):
    """It would be read several times."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="a pipe can be read only once; save it as a file"):
        run(small_config(tmp_path / "pipe", tmp_path / "run"))
    with pytest.raises(UserError, match="no such checkpoint"):
        Translator.from_pretrained(tmp_path / "pipe")
