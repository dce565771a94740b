"""The pages in docs/: their code runs and prints what stands below it, their commands work, the two
languages agree, and the notebook is made of them.
"""

import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import tokenize
from pathlib import Path

import nbformat
import pytest

from translator.cli.arguments import make_parser
from translator.config import Config
from translator.pairs import Report, read_pairs

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

_spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
build = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build)

PAGES = build.page_names()
NOT_RUN = {
    "translator train": "takes minutes; its settings are read instead",
    "translator export": "takes a minute, and tests/test_export.py does it",
    "translator translate --model exported-int8": "needs that export",
    "translator translate --model runs/fine": "needs that training",
    "translator serve": "runs until it is stopped",
    "curl": "needs a running server",
}
"""Beginnings of commands that the pages show and this test does not run, and why."""

FOUR_PAIRS = (
    "Good morning.\t좋은 아침입니다.\tformal\nGood morning.\t좋은 아침이에요.\tpolite\n"
    "Thank you.\t감사합니다.\nSee you tomorrow.\t내일 봐.\tcasual\n"
)
"""What own-corpus.md writes to my.tsv."""


def fenced(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[str]:
    blocks = [re.sub(r"\\\n *", "", block) for block in fenced(page, "sh")]
    return [line for block in blocks for line in block.splitlines()]


def reason(command: str) -> str | None:
    """Why a command is not run; of a pipe the last part counts."""
    last = command.rpartition(" | ")[2]
    if "train.run_dir=runs/try" in last:  # a few steps
        return None
    return next((why for begin, why in NOT_RUN.items() if last.startswith(begin)), None)


def without_comments(code: str) -> list[str]:
    """The tokens, ends of lines and empty lines among them."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return [token.string for token in tokens if token.type != tokenize.COMMENT]


@pytest.mark.parametrize("name", PAGES)
def test_the_code_prints_what_stands_below_it(name):
    page = build.read("ko", name)
    printed = build.run(build.code_blocks(page), name)
    assert printed == build.outputs(page), "run python docs/build.py and read what has changed"


@pytest.mark.parametrize(
    "block",
    [
        pytest.param("for i in range(2):\n    print(i)\nprint(3)\n", id="no blank line behind"),
        pytest.param("def f():\n    a = 1\n\n    return a\n", id="a blank line within"),
        pytest.param("print(\n", id="unfinished"),
    ],
)
def test_what_cannot_be_pasted_into_the_prompt_is_an_error(block):
    with pytest.raises(SyntaxError):
        build.run([block], "page")


def test_blocks_are_pasted_one_after_the_other_and_errors_are_not_swallowed():
    blocks = ["def f():\n    print(1)\n", "for _ in range(2):\n    f()\n\n5\nprint(2)\n"]
    assert build.run(blocks, "page") == ["", "1\n1\n2\n"]
    with pytest.raises(ZeroDivisionError):
        build.run(["1 / 0\n"], "page")


def test_nearly_every_page_has_code_and_output():
    without = [name for name in PAGES if not any(build.outputs(build.read("ko", name)))]
    assert without == ["08-exercises.md"]
    assert len(PAGES) == 15


def test_both_languages_have_the_same_pages():
    english = sorted(path.name for path in (DOCS / "en").glob("*.md"))
    assert english == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_both_languages_show_the_same_code_and_output(name):
    ko, en = (build.read(language, name) for language in build.LANGUAGES)
    assert [without_comments(block) for block in build.code_blocks(ko)] == [
        without_comments(block) for block in build.code_blocks(en)
    ]
    assert build.outputs(ko) == build.outputs(en)
    for language in ("sh", "yaml", "text"):
        assert fenced(ko, language) == fenced(en, language)


@pytest.mark.parametrize("name", PAGES)
def test_every_output_belongs_to_a_block(name):
    page = build.read("ko", name)
    shown = [text for text in build.outputs(page) if text]
    assert shown == fenced(page, "text")


@pytest.mark.parametrize("language", build.LANGUAGES)
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_short_and_lead_on(name, language):
    page = build.read(language, name)
    lines = page.splitlines()
    assert len(lines) <= 150
    assert max(map(len, lines)) <= 160
    code = "".join(build.code_blocks(page)).splitlines()
    assert max(map(len, code), default=0) <= 88
    onward = {"ko": ("다음: [", "처음으로: ["), "en": ("Next: [", "Back to the [")}
    assert lines[-1].startswith(onward[language])


def texts_with_links() -> list[tuple[Path, str]]:
    paths = [DOCS / "README.md", *sorted(DOCS.glob("*/*.md"))]
    found = [(path, path.read_text(encoding="utf-8")) for path in paths]
    cells = nbformat.read(build.NOTEBOOK, as_version=4).cells
    return [*found, *((build.NOTEBOOK, cell.source) for cell in cells)]


def test_links_lead_somewhere():
    seen = set()
    for path, text in texts_with_links():
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            seen.add(path)
            if not target.startswith(("http", "#")):
                assert (path.parent / target.partition("#")[0]).is_file(), f"{path}: {target}"
    assert len(seen) == 2 + 2 * len(PAGES)


def test_the_index_lists_every_page():
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    for language in build.LANGUAGES:
        for name in PAGES:
            assert f"]({language}/{name})" in index


def test_stale_outputs_are_rewritten_missing_ones_added_needless_ones_removed():
    page = (
        "a\n\n```python\nprint(1)\n```\n\n```text\n2\n```\n\nb\n\n```python\nprint(3)\n```\n\nc\n\n"
        "```python\nx = 4\n```\n\n```text\n5\n```\n\nd\n"
    )
    printed = build.run(build.code_blocks(page), "page")
    assert printed == ["1\n", "3\n", ""]
    rebuilt = build.with_outputs(page, printed)
    assert rebuilt == (
        "a\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\nb\n\n```python\nprint(3)\n```\n\n"
        "```text\n3\n```\n\nc\n\n```python\nx = 4\n```\n\nd\n"
    )
    assert build.with_outputs(rebuilt, printed) == rebuilt


def test_the_notebook_is_what_the_pages_make():
    written = build.NOTEBOOK.read_text(encoding="utf-8")
    assert written == build.notebook(build.chapter()), "run python docs/build.py"
    cells = nbformat.reads(written, as_version=4).cells
    code = [block for name in PAGES[:7] for block in build.code_blocks(build.read("ko", name))]
    assert [cell.source + "\n" for cell in cells if cell.cell_type == "code"] == code


@pytest.mark.filterwarnings("default")  # of Jupyter's packages
def test_the_notebook_runs_and_prints_what_it_shows():
    missing = "the notebook is run only where nbclient and ipykernel are installed"
    nbclient = pytest.importorskip("nbclient", reason=missing)
    pytest.importorskip("ipykernel", reason=missing)
    shown = nbformat.read(build.NOTEBOOK, as_version=4)
    fresh = nbformat.read(build.NOTEBOOK, as_version=4)
    nbclient.NotebookClient(fresh, timeout=120, kernel_name="python3").execute()
    n_cells = 0
    for before, after in zip(shown.cells, fresh.cells, strict=True):
        if before.cell_type == "code":
            n_cells += 1
            assert {output.output_type for output in after.outputs} <= {"stream"}
            assert stdout(after) == stdout(before)
    assert n_cells > 30


def stdout(cell: nbformat.NotebookNode) -> str:
    return "".join(output.text for output in cell.outputs if output.name == "stdout")


@pytest.fixture
def checkout(tmp_path):
    """A folder in which commands may write, with what a clone has."""
    for name in ("configs", "data", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name, target_is_directory=True)
    return tmp_path


@pytest.mark.parametrize("name", [name for name in PAGES if commands(build.read("ko", name))])
def test_the_commands_run(name, checkout):
    lines = [line for line in commands(build.read("ko", name)) if reason(line) is None]
    if name == "fine-tuning.md":  # the file of the page before
        (checkout / "my.tsv").write_text(FOUR_PAIRS, encoding="utf-8")
    done = subprocess.run(
        ["bash", "-c", "set -euo pipefail\n" + "\n".join(lines)],
        cwd=checkout,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if name == "own-corpus.md":
        report = Report()
        levels = [pair.level for pair in read_pairs([str(checkout / "my.tsv")], report)]
        assert levels == ["formal", "polite", "formal", "casual"]
        assert (checkout / "my.tsv").read_text(encoding="utf-8") == FOUR_PAIRS
        for told in ("train: 3 pairs", "step 50/50", "done: runs/try\n"):
            assert told in done.stderr
        lines = done.stdout.split("\n")
        assert [line.count("\t") for line in lines[:20]] == [2] * 20  # the paste
        assert "1716 pairs" in lines[20] and any(line.startswith("| all |") for line in lines)
    elif name == "looking-inside.md":
        assert (checkout / "map.svg").read_text(encoding="utf-8").startswith("<svg")
        assert done.stdout.count("저는 학생입니다.") >= 4
    elif name == "fine-tuning.md":
        for told in ("starts from", "step 20/20", "done: runs/try-fine\n"):
            assert told in done.stderr
        assert done.stdout == "저는 학생입니다.\n"
    else:
        assert not lines, f"{name}: say here what its commands have to do"


def test_commands_that_are_not_run_are_at_least_understood(monkeypatch):
    monkeypatch.chdir(ROOT)
    used = set()
    for name in PAGES:
        for command in commands(build.read("ko", name)):
            if reason(command) is None:
                continue
            last = command.rpartition(" | ")[2]
            used.update(begin for begin in NOT_RUN if last.startswith(begin))
            program, *arguments = shlex.split(last)
            if program == "translator":
                args = make_parser().parse_args(arguments)
                if args.command == "train":
                    assert Config.from_yaml(args.config, args.set).data.train == ("my.tsv",)
    assert used == set(NOT_RUN)


def test_the_settings_shown_are_valid(tmp_path):
    n_blocks = 0
    for name in PAGES:
        for block in fenced(build.read("ko", name), "yaml"):
            path = tmp_path / "config.yaml"
            path.write_text(block, encoding="utf-8")
            assert Config.from_yaml(path).data.train[0] == "my.tsv"
            n_blocks += 1
    assert n_blocks == 2
