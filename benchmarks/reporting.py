"""Tables in Markdown, and words about progress. It imports no PyTorch; processes.py says why."""

import statistics
import sys
from collections.abc import Sequence


def markdown(lines: Sequence[Sequence[str]], n_text: int) -> str:
    """A table. The first of the lines is its head; all columns after the first `n_text` hold
    numbers.
    """
    head, *rows = lines
    rule = ["---"] * n_text + ["---:"] * (len(head) - n_text)
    return "\n".join(map(table_line, (head, rule, *rows)))


def table_line(cells: Sequence[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def cell(value: float | None, form: str) -> str:
    """A number in a table; empty when it is not known."""
    return "" if value is None else format(value, form)


def median(values: Sequence[float | None]) -> float | None:
    """Of what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def say(text: str) -> None:
    """Progress, on stderr."""
    print(text, file=sys.stderr, flush=True)
