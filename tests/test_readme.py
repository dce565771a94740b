"""Runs what the README tells people to run; set-up lines use the environment that is there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READMES = ["README.md", "README.ko.md"]


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def marked(name: str, mark: str) -> str:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.search(rf"<!-- {mark} -->\n```sh\n(.*?)```", text, re.DOTALL)[1]


@pytest.fixture
def checkout(tmp_path):
    """The files that a clone has, in a folder where a test may train."""
    for name in ("configs", "data", "scripts", "README.md"):
        source = ROOT / name
        target = tmp_path / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    return tmp_path


def run(command: str, where: Path) -> subprocess.CompletedProcess[str]:
    """One shell line with this Python as `python` and this package's command as `translator`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=where,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=170,
        check=False,
    )
    assert done.returncode in {0, 141}, f"{command}: {done.stderr}"
    return done


@pytest.mark.parametrize("name", READMES)
def test_the_translate_command_ends_in_the_promised_sentence(name, checkout):
    *setup, translate = marked(name, "translate-command").strip().split("\n")
    assert [line.split()[:2] for line in setup] == [
        ["python3", "-m"],
        [".venv/bin/pip", "install"],
    ]
    assert "-c constraints.txt -e ." in setup[1]
    command = translate.replace(".venv/bin/python", "python")
    assert run(command, checkout).stdout == "저는 학생입니다.\n"
    assert run(command.replace("student", "student."), checkout).stdout == "저는 학생입니다.\n"


@pytest.mark.parametrize("name", READMES)
def test_the_test_command_installs_what_the_tests_need_and_runs_them(name):
    lines = marked(name, "test-command").strip().split("\n")
    assert lines[1] == ".venv/bin/pip install -q -c constraints.txt -e '.[dev]'"
    assert lines[2] == ".venv/bin/python -m pytest -q -n auto"


def test_the_other_commands_run(checkout):
    """Training with two steps. One README is enough: another test holds their commands equal."""
    name = "README.md"
    letters = "abcdefghijklmnopqrstuvwxyz"
    pairs = [f"This is {a}{b}.\t이것은 {a}{b}입니다.\n" for a in letters for b in letters]
    (checkout / "my.tsv").write_text("".join(pairs), encoding="utf-8")
    special = {marked(name, "translate-command"), marked(name, "test-command")}
    for block in (b for b in blocks(name, "sh") if b not in special):
        for line in block.strip().split("\n"):
            short = " --set train.max_steps=2 --set model.d_model=32" if "train.py" in line else ""
            run(line.split("  #")[0] + short, checkout)


@pytest.mark.parametrize("name", READMES)
def test_the_transcript_is_real(name, checkout):
    text = (ROOT / name).read_text(encoding="utf-8")
    command, output = re.search(r"```\n\$ (.*?)\n(.*?)```", text, re.DOTALL).groups()
    assert run(command, checkout).stdout == output


@pytest.mark.parametrize("name", READMES)
def test_the_python_blocks_run(name, capsys):
    namespace: dict[str, object] = {}
    for block in blocks(name, "python"):
        exec(compile(block, name, "exec"), namespace)
    printed = capsys.readouterr().out.split("\n")
    assert printed[0] == "torch.Size([4, 4]) torch.Size([3, 3]) torch.Size([3, 4])"
    assert printed[1].startswith("저는 학생이에요. -")


def test_both_readmes_show_the_same_code():
    for language in ("sh", "python"):
        stripped = [
            [re.sub(r"\s*#.*", "", block) for block in blocks(name, language)] for name in READMES
        ]
        assert stripped[0] == stripped[1]


def test_links_lead_somewhere():
    for name in [*READMES, "data/README.md", "src/translator/pretrained/README.md"]:
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert target.startswith("http") or ((ROOT / name).parent / target).exists(), target


@pytest.mark.fault("B35")
def test_particles_after_copied_names_are_a_known_limit():
    assert "After a name or a number a particle can be wrong." in " ".join(
        (ROOT / "README.md").read_text(encoding="utf-8").split()
    )
