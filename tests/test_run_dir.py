import json
import math
import os
import subprocess
import sys

import pytest
from conftest import small_config

from translator.checkpoint import save_atomically
from translator.errors import UserError
from translator.events import StepReport
from translator.run_dir import RunDirectory

STATE = {"step": 2, "vocabulary": "v", "data": "d"}


def report(step: int, loss: float = 1.0) -> StepReport:
    return StepReport(
        step=step,
        loss=loss,
        lr=0.1,
        grad_norm=1.0,
        tokens_per_second=9.0,
        padding=0.0,
        waiting=0.0,
        skipped=0,
        seconds_left=1.0,
    )


def test_a_second_run_needs_a_word(tmp_path):
    run_dir = RunDirectory(tmp_path / "run")
    run_dir.check_free(overwrite=False)
    run_dir.prepare()
    run_dir.record(report(1))
    run_dir.check_free(overwrite=False)  # stopped before its first save: nothing to lose
    run_dir.save_state(small_config("c", tmp_path), STATE)
    with pytest.raises(UserError, match=r"holds a run already; --overwrite starts again"):
        run_dir.check_free(overwrite=False)
    run_dir.last.write_bytes(b"")
    with pytest.raises(UserError, match="--resume continues it, --overwrite starts again"):
        run_dir.check_free(overwrite=False)
    run_dir.check_free(overwrite=True)


@pytest.mark.parametrize("name", ["last.pt", "best.pt", "resume.pt"])
def test_any_checkpoint_is_worth_a_word(tmp_path, name):
    (tmp_path / name).write_bytes(b"precious")
    with pytest.raises(UserError, match="holds a run already"):
        RunDirectory(tmp_path).check_free(overwrite=False)


@pytest.mark.fault("B68")
def test_clearing_removes_the_files_of_a_run_and_no_others(tmp_path):
    run_dir = RunDirectory(tmp_path)
    run_dir.prepare()
    run_dir.record(report(1))
    run_dir.save_state(small_config("c", tmp_path), STATE)
    for path in (
        run_dir.kept(5),
        run_dir.average,
        tmp_path / "tensorboard" / "events.out.tfevents.1",
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"ours")
    foreign = [
        tmp_path / "notes.txt",
        tmp_path / "kept" / "mine.pt",
        tmp_path / "tensorboard" / "x",
    ]
    for path in foreign:
        path.write_text("mine")
    run_dir.clear()
    left = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {*foreign, tmp_path / ".lock"}


@pytest.mark.fault("B68")
def test_only_what_is_not_wanted_goes_from_the_kept_ones(tmp_path):
    run_dir = RunDirectory(tmp_path)
    run_dir.keep_only([])  # nothing there yet
    for path in (run_dir.best, run_dir.last, run_dir.kept(5), run_dir.kept(10), run_dir.kept(15)):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    run_dir.keep_only([10])
    assert sorted(p.name for p in tmp_path.rglob("*.pt")) == [
        "best.pt",
        "last.pt",
        "step-00000010.pt",
    ]


def test_two_processes_do_not_train_in_one_place(tmp_path):
    first = RunDirectory(tmp_path)
    first.prepare()
    code = (
        "import sys\n"
        "from translator.errors import UserError\n"
        "from translator.run_dir import RunDirectory\n"
        "try: RunDirectory(sys.argv[1]).prepare()\n"
        "except UserError as error: print(error)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "another process trains here" in done.stdout
    first.prepare()  # who has it already keeps it
    first.release()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        RunDirectory(tmp_path / "file" / "run").prepare()
    (tmp_path / "tokens").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        RunDirectory(tmp_path).prepare()


def test_reports_after_the_saved_step_are_taken_back(tmp_path):
    config = small_config("c", tmp_path)
    run_dir = RunDirectory(tmp_path)
    for step in (1, 2, 3):
        run_dir.record(report(step))
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.write('5\n{}\nnull\n{"kind": "StepRep')  # oddities, and a kill in the middle of a line
    run_dir.save_state(config, STATE)
    assert run_dir.load_state(config)["step"] == 2
    run_dir.forget_after(2)
    rows = (tmp_path / "metrics.jsonl").read_text().strip().split("\n")
    assert [json.loads(row)["step"] for row in rows] == [1, 2]


def test_what_is_not_a_number_is_null_in_json(tmp_path):
    run_dir = RunDirectory(tmp_path)
    run_dir.record(report(1, loss=math.nan))
    assert json.loads((tmp_path / "metrics.jsonl").read_text())["loss"] is None


def test_a_model_that_starts_from_another_has_its_sizes(tmp_path):
    """They are known from the checkpoint; what the config says of them has no effect."""
    config = small_config("c", tmp_path, init_from="pretrained")
    run_dir = RunDirectory(tmp_path)
    run_dir.save_state(config, STATE)
    run_dir.load_state(config.override(["model.d_ff=128", "tokenizer.vocab_size=77"]))
    with pytest.raises(UserError, match=r"began with: model\.dropout"):
        run_dir.load_state(config.override(["model.dropout=0.3"]))


def test_only_length_reports_and_learning_rate_may_change(tmp_path):
    run_dir = RunDirectory(tmp_path)
    config = small_config("c", tmp_path)
    run_dir.save_state(config, STATE)
    run_dir.load_state(
        config.override(["train.max_steps=99", "train.lr=1", "decoding.batch_size=2"])
    )
    changed = config.override(["train.seed=5", "model.d_ff=128"])
    with pytest.raises(
        UserError, match=r"began with: model\.d_ff \(64 then, 128 now\), train\.seed \("
    ):
        run_dir.load_state(changed)


def test_a_setting_that_is_newer_than_the_run_is_as_its_default(tmp_path):
    config = small_config("c", tmp_path)
    run_dir = RunDirectory(tmp_path)
    run_dir.save_state(config, STATE)
    state = run_dir.load_state(config)
    del state["config"]["data"]["resplit"]
    save_atomically(tmp_path / "resume.pt", state)
    assert run_dir.load_state(config)["step"] == 2
    with pytest.raises(UserError, match=r"began with: data\.resplit \(0\.0 then, "):
        run_dir.load_state(config.override(["data.resplit=0.5"]))


def test_single_values_of_the_state_are_amended(tmp_path):
    config = small_config("c", tmp_path)
    run_dir = RunDirectory(tmp_path)
    run_dir.save_state(config, STATE)
    run_dir.amend_state({"step": 7})
    assert run_dir.load_state(config)["step"] == 7
    assert run_dir.load_state(config)["data"] == STATE["data"]


def test_nothing_to_resume(tmp_path):
    with pytest.raises(UserError, match="no saved run to resume; start one without --resume"):
        RunDirectory(tmp_path).load_state(small_config("c", tmp_path))
    (tmp_path / "last.pt").write_bytes(b"")
    with pytest.raises(UserError, match="no saved run to resume; --overwrite starts again"):
        RunDirectory(tmp_path).load_state(small_config("c", tmp_path))


def test_a_foreign_state_is_refused(tmp_path):
    save_atomically(tmp_path / "resume.pt", {"something": 1})
    with pytest.raises(UserError, match="not the state of a run"):
        RunDirectory(tmp_path).load_state(small_config("c", tmp_path))


def test_a_run_that_began_meanwhile_is_not_lost(tmp_path):
    """While one reads its corpus another may begin, and end, in the same new directory."""
    slow, fast = RunDirectory(tmp_path), RunDirectory(tmp_path)
    slow.hold()
    slow.check_free(overwrite=False)
    fast.prepare()
    (tmp_path / "best.pt").touch()
    fast.release()
    with pytest.raises(UserError, match="holds a run already"):
        slow.prepare()
    slow.release()
    again = RunDirectory(tmp_path)
    again.check_free(overwrite=True)
    again.prepare()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no locks")
def test_a_run_without_a_lock_file_is_held_before_it_is_read(tmp_path):
    (tmp_path / "resume.pt").touch()
    first = RunDirectory(tmp_path)
    first.hold()
    with pytest.raises(UserError, match="another process trains here, or a training of this one"):
        RunDirectory(tmp_path).hold()


def test_a_damaged_state_says_what_still_works(tmp_path):
    (tmp_path / "resume.pt").write_bytes(b"half")
    (tmp_path / "last.pt").touch()
    with pytest.raises(
        UserError, match=r"resume\.pt: damaged; begin anew .*--init-from .*last\.pt"
    ):
        RunDirectory(tmp_path).load_state(small_config("c", tmp_path))
    save_atomically(tmp_path / "resume.pt", {"format": 2})
    with pytest.raises(UserError, match="not the state of a run of this version"):
        RunDirectory(tmp_path).load_state(small_config("c", tmp_path))
