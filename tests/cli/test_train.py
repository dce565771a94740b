import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from conftest import small_config, write_config, write_tsv

from translator.checkpoint import load_checkpoint
from translator.cli import main
from translator.cli.train import _duration, _judgement
from translator.events import ValidationReport


@pytest.fixture
def config_file(corpus, tmp_path):
    return write_config(small_config(corpus, tmp_path / "run"), tmp_path / "config.yaml")


@pytest.mark.fault("B43")
@pytest.mark.fault("B96")
def test_a_log_has_plain_lines_and_no_warnings(config_file, tmp_path):
    """As in `train > log 2>&1` on a server: no carriage return, few lines, nothing on stdout."""
    command = [sys.executable, "-W", "error", "-m", "translator", "train", "--config", config_file]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    log = done.stderr.decode()
    assert done.returncode == 0, log
    assert done.stdout == b""
    assert "\r" not in log
    assert "step 5/10  loss " in log and "step 10/10  loss " in log
    assert len(log.split("\n")) < 25
    assert (tmp_path / "run" / "best.pt").exists()


@pytest.mark.fault("B96")
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_a_terminal_gets_a_bar(config_file):
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "translator", "train", "--config", config_file]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk
        assert process.stdout.read() == b""
    os.close(ours)
    assert b"10/10" in shown
    assert b"\r" in shown


def test_set_resume_and_overwrite(config_file, capsys):
    command = ["train", "--config", str(config_file)]
    assert main([*command, "--set", "train.max_steps=5"]) == 0
    assert main(command) == 2
    assert "holds a run already" in capsys.readouterr().err
    assert main([*command, "--resume"]) == 0
    err = capsys.readouterr().err
    assert "goes on from step 5\n" in err and "step 10/10" in err
    assert main([*command, "--resume"]) == 0
    err = capsys.readouterr().err
    assert "already done: 10 of 10 steps" in err and "goes on" not in err
    assert main([*command, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["train.lrr=1"], "unknown key train.lrr; did you mean train.lr?"),
        (["train.lr=fast"], "train.lr: expected a number, got 'fast'"),
        (["data.train=nowhere.tsv"], "nowhere.tsv: no such file"),
        (["model.max_len=4"], "no pair is short enough"),
        (["tokenizer.vocab_size=9"], "tokenizer.vocab_size: 9 is too small"),
    ],
)
def test_what_a_user_gets_wrong_is_one_line_and_status_2(
    config_file, tmp_path, capsys, change, message
):
    options = [word for assignment in change for word in ("--set", assignment)]
    assert main(["train", "--config", str(config_file), *options]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.strip().split("\n")[-1].startswith("translator: ")
    assert "Traceback" not in err
    assert not list(tmp_path.glob("run/*.pt"))


def test_dropped_rows_are_reported(tmp_path, capsys):
    corpus = write_tsv(tmp_path / "mine.tsv")
    with open(corpus, "a", encoding="utf-8") as file:
        file.write("One side only\t\n")
    path = write_config(small_config(corpus, tmp_path / "run", max_steps=5), tmp_path / "c.yaml")
    assert main(["train", "--config", str(path)]) == 0
    err = capsys.readouterr().err
    assert f"1 pair dropped: empty Korean side (first: {corpus}:15)" in err


KILLS = int(os.environ.get("TRANSLATOR_TEST_KILLS", "4"))
STEPS = 150 + 20 * KILLS


def start(config_file: Path, *options: str) -> subprocess.Popen[str]:
    """A training in its own process; returns when its first step is near."""
    command = [sys.executable, "-m", "translator", "train", "--config", config_file, *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("model: "):
            break
    return process


def finish(process: subprocess.Popen[str]) -> str:
    log = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)
    return log


def assert_same_files(a: Path, b: Path) -> None:
    """Weights of all checkpoints are the same to the last bit."""
    for name in ("last.pt", "best.pt"):
        one, other = load_checkpoint(a / name), load_checkpoint(b / name)
        assert one.step == other.step
        assert all(torch.equal(one.weights[key], other.weights[key]) for key in one.weights)


@pytest.fixture
def long_run(corpus, tmp_path):
    """A config of a few seconds, and the same already run to its end without a disturbance."""
    config = small_config(
        corpus, tmp_path / "whole", max_steps=STEPS, validate_every=20, save_every=7, log_every=10
    ).override(["model.dropout=0.2", "data.dev_size=2", "train.max_tokens=64"])
    assert main(["train", "--config", str(write_config(config, tmp_path / "whole.yaml"))]) == 0
    parts = config.override([f"train.run_dir={tmp_path / 'parts'}"])
    return write_config(parts, tmp_path / "parts.yaml"), tmp_path / "parts", tmp_path / "whole"


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_is_saved_and_goes_on(long_run, sent, status):
    config_file, parts, whole = long_run
    process = start(config_file)
    time.sleep(0.3)
    process.send_signal(sent)
    log = finish(process)
    assert process.returncode == status, log
    assert "stopped at step " in log and "--resume goes on from there" in log
    assert "Traceback" not in log
    assert 0 < load_checkpoint(parts / "last.pt").step < STEPS
    assert main(["train", "--config", str(config_file), "--resume"]) == 0
    assert_same_files(parts, whole)


@pytest.mark.fault("B59")
@pytest.mark.fault("B62")
def test_killed_at_random_moments_and_resumed(long_run):
    """SIGKILL again and again; TRANSLATOR_TEST_KILLS=50 makes a longer test of it."""
    config_file, parts, whole = long_run
    rng = random.Random(KILLS)
    killed = 0
    while killed < KILLS:
        resumable = (parts / "resume.pt").exists()
        process = start(config_file, "--resume" if resumable else "--overwrite")
        time.sleep(rng.uniform(0, 0.5))
        process.kill()
        log = finish(process)
        assert "Traceback" not in log
        killed += process.returncode != 0
        for path in parts.glob("*.pt"):
            torch.load(path, weights_only=True)  # whole, whatever happened
        if process.returncode == 0:  # a fast machine has come to the end
            break
    assert killed >= 1
    resumable = (parts / "resume.pt").exists()
    how = "--resume" if resumable else "--overwrite"
    assert main(["train", "--config", str(config_file), how]) == 0
    assert_same_files(parts, whole)
    assert not list(parts.glob(".*.tmp")), "leftovers are cleaned"


def test_init_from_is_a_setting_too(config_file, tmp_path, capsys):
    command = ["train", "--config", str(config_file)]
    assert main([*command, "--set", "train.max_steps=5"]) == 0
    again = [*command, "--set", f"train.run_dir={tmp_path / 'second'}"]
    assert main([*again, "--init-from", str(tmp_path / "run")]) == 0
    assert f"starts from {tmp_path / 'run' / 'best.pt'} (step 5)" in capsys.readouterr().err
    assert main([*again, "--init-from", str(tmp_path / "nowhere"), "--overwrite"]) == 2
    assert "nowhere: no such checkpoint" in capsys.readouterr().err


def test_init_from_is_a_path_and_no_yaml(config_file, trained, tmp_path, capsys):
    odd = tmp_path / "exp #2"
    shutil.copytree(trained, odd)
    command = ["train", "--config", str(config_file), "--set", "train.max_steps=5"]
    assert main([*command, "--init-from", str(odd)]) == 0
    assert f"starts from {odd / 'best.pt'}" in capsys.readouterr().err
    assert load_checkpoint(tmp_path / "run" / "last.pt").config.train.init_from == str(odd)
    assert main([*command, "--init-from", "", "--overwrite"]) == 2
    assert "--init-from: name a checkpoint, a run directory" in capsys.readouterr().err


def test_curves_for_tensorboard(config_file, tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    command = ["train", "--config", str(config_file), "--set", "train.tensorboard=true"]
    assert main([*command, "--set", "train.max_steps=5"]) == 0
    assert main([*command, "--resume"]) == 0
    curves = accumulator.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    curves.Reload()
    assert [point.step for point in curves.Scalars("train/loss")] == [5, 10]
    assert curves.Scalars("train/lr")[0].value > 0
    assert main([*command, "--overwrite", "--set", "train.max_steps=5"]) == 0
    curves = accumulator.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    curves.Reload()
    assert [point.step for point in curves.Scalars("train/loss")] == [5]


def test_saved_is_said_of_what_was_saved():
    report = ValidationReport(step=5, nll=1.5, chrf=None, best=True, saved=True, samples=())
    assert _judgement(report, 10) == ["step 5/10  dev nll 1.5000 (best so far)  saved"]
    [line] = _judgement(replace(report, best=False, saved=False), 10)
    assert line == "step 5/10  dev nll 1.5000  not saved (the last gradient was not finite)"


def test_durations():
    assert [_duration(s) for s in (0.4, 59, 75, 3599.9, 7260)] == [
        *("0 s", "59 s", "1 min 15 s", "1 h 0 min", "2 h 1 min"),
    ]
