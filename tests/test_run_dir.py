import json

import pytest
from conftest import small_config

from translator.errors import UserError
from translator.events import StepReport
from translator.run_dir import RunDirectory


def report(step: int) -> StepReport:
    return StepReport(
        step=step, loss=1.0, lr=0.1, grad_norm=1.0, tokens_per_second=9.0, padding=0.0
    )


def test_a_second_run_needs_a_word(tmp_path):
    run_dir = RunDirectory(tmp_path / "run")
    run_dir.claim(overwrite=False)
    run_dir.record(report(1))
    run_dir.claim(overwrite=False)  # stopped before its first save: nothing to lose
    run_dir.save_state(small_config("c", tmp_path), {"step": 1})
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="holds a run already; --resume continues it, --overwrite"):
        run_dir.claim(overwrite=False)
    run_dir.claim(overwrite=True)
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["notes.txt"], "foreign files stay"


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        RunDirectory(tmp_path / "file" / "run").claim(overwrite=False)


def test_reports_after_the_saved_step_are_taken_back(tmp_path):
    config = small_config("c", tmp_path)
    run_dir = RunDirectory(tmp_path)
    for step in (1, 2, 3):
        run_dir.record(report(step))
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.write('{"kind": "StepRep')  # a kill in the middle of a line
    run_dir.save_state(config, {"step": 2})
    assert run_dir.load_state(config)["step"] == 2
    rows = (tmp_path / "metrics.jsonl").read_text().strip().split("\n")
    assert [json.loads(row)["step"] for row in rows] == [1, 2]


def test_only_length_reports_and_learning_rate_may_change(tmp_path):
    run_dir = RunDirectory(tmp_path)
    config = small_config("c", tmp_path)
    run_dir.save_state(config, {"step": 2})
    run_dir.load_state(
        config.override(["train.max_steps=99", "train.lr=1", "decoding.batch_size=2"])
    )
    changed = config.override(["train.seed=5", "model.d_ff=128"])
    with pytest.raises(UserError, match=r"another model\.d_ff and train\.seed than the run began"):
        run_dir.load_state(changed)


def test_nothing_to_resume(tmp_path):
    with pytest.raises(UserError, match="no saved run to resume; start one without --resume"):
        RunDirectory(tmp_path).load_state(small_config("c", tmp_path))
