import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import small_config, write_tsv

from translator.cli import main
from translator.config import Config


def write_config(config: Config, path: Path) -> Path:
    path.write_text(yaml.safe_dump(config.to_dict(), allow_unicode=True), encoding="utf-8")
    return path


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
    assert "step 10/10" in capsys.readouterr().err
    assert main([*command, "--resume"]) == 0
    assert "already done: 10 of 10 steps" in capsys.readouterr().err
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
