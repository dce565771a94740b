"""Runs the code of the pages, writes what it prints below it, and makes the notebook.

    python docs/build.py

The Python blocks of a page run from top to bottom, as if pasted into one prompt. A ```text block
right behind a Python block is what that block prints; it is rewritten in place, in both languages.
The notebook holds the Korean chapter, made of the same text.
"""

import code
import contextlib
import io
import posixpath
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

DOCS = Path(__file__).resolve().parent
LANGUAGES = ("ko", "en")
NOTEBOOK = DOCS / "chapter.ipynb"
CHAPTER = re.compile(r"0[1-7]-")  # pages of the notebook, by the beginning of their names

PYTHON = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")


def page_names() -> list[str]:
    """The pages of the Korean documentation, in order; the English ones have the same names."""
    return sorted(path.name for path in (DOCS / "ko").glob("*.md"))


def read(language: str, name: str) -> str:
    """The text of a page."""
    return (DOCS / language / name).read_text(encoding="utf-8")


def code_blocks(page: str) -> list[str]:
    """The Python blocks of a page, in order."""
    return [match["code"] for match in PYTHON.finditer(page)]


def outputs(page: str) -> list[str]:
    """What a page says each of its Python blocks prints; "" where nothing is said."""
    return [match["output"] or "" for match in PYTHON.finditer(page)]


class Prompt(code.InteractiveConsole):
    """The prompt of Python up to 3.12, which takes a page line by line; errors are raised."""

    def showtraceback(self) -> None:
        raise  # noqa: PLE0704  (called where the error is handled)

    def showsyntaxerror(self, *_: object, **__: object) -> None:
        raise  # noqa: PLE0704


def run(blocks: Sequence[str], name: str) -> list[str]:
    """Pastes blocks into one fresh prompt.  -> what each of them prints

    A body ends with a blank line there, and holds none. The values that a prompt shows of its own
    accord are left out.
    """
    prompt = Prompt({"__name__": "__main__"})
    shown, sys.displayhook = sys.displayhook, lambda _: None
    try:
        return [_paste(prompt, block, f"{name}, block {n}") for n, block in enumerate(blocks, 1)]
    finally:
        sys.displayhook = shown


def _paste(prompt: Prompt, block: str, name: str) -> str:
    prompt.filename = name
    captured = io.StringIO()
    with contextlib.redirect_stdout(captured):
        for line in [*block.splitlines(), ""]:
            unfinished = prompt.push(line)
    if unfinished:
        raise SyntaxError(f"{name} ends within a statement")
    return captured.getvalue()


def with_outputs(page: str, printed: Sequence[str]) -> str:
    """The page with what its Python blocks print below them."""
    texts = iter(printed)

    def rewrite(match: re.Match[str]) -> str:
        text = next(texts)
        shown = f"\n```text\n{text}```\n" if text else ""
        return f"```python\n{match['code']}```\n{shown}"

    return PYTHON.sub(rewrite, page)


def notebook(pages: Sequence[tuple[str, str]]) -> str:
    """The notebook of some pages, given as names and texts; the same pages, the same bytes."""
    cells = []
    n_run = 0
    for name, page in pages:
        for kind, content, output in _parts(_linked_from_above(page)):
            cell_id = f"{name.removesuffix('.md')}-{len(cells):03}"
            if kind == "markdown":
                cells.append(new_markdown_cell(content, id=cell_id))
                continue
            n_run += 1
            shown = [new_output("stream", name="stdout", text=output)] if output else []
            cells.append(new_code_cell(content, id=cell_id, outputs=shown, execution_count=n_run))
    made = new_notebook(
        cells=cells,
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
    )
    made.nbformat, made.nbformat_minor = 4, 5
    nbformat.validate(made)
    return str(nbformat.writes(made)) + "\n"


def _parts(page: str) -> list[tuple[str, str, str]]:
    """A page as cells: kind ("markdown" or "code"), content, output."""
    parts = []
    end = 0
    for match in PYTHON.finditer(page):
        parts.append(("markdown", page[end : match.start()].strip(), ""))
        parts.append(("code", match["code"].rstrip("\n"), match["output"] or ""))
        end = match.end()
    parts.append(("markdown", page[end:].strip(), ""))
    return [part for part in parts if part[1]]


def _linked_from_above(page: str) -> str:
    """Links as they read from the folder above that of the page, where the notebook is."""
    return LINK.sub(lambda match: f"]({posixpath.normpath(f'ko/{match[1]}')})", page)


def chapter() -> list[tuple[str, str]]:
    """Names and texts of the Korean pages that the notebook holds."""
    return [(name, read("ko", name)) for name in page_names() if CHAPTER.match(name)]


def main() -> None:
    """Rebuilds everything in place and says which files changed."""
    for name in page_names():
        printed = run(code_blocks(read("ko", name)), name)
        for language in LANGUAGES:
            _write(DOCS / language / name, with_outputs(read(language, name), printed))
    _write(NOTEBOOK, notebook(chapter()))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path.relative_to(DOCS)}: rewritten")


if __name__ == "__main__":
    main()
