"""Attention weights as a picture: a table for the terminal, or SVG. Neither needs a package."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

from translator.terminal import padded, printable, width

SHADES: Final = " ░▒▓█"
CELL: Final = 34  # pixels, width and height of a cell in SVG
INK_CHANGES_AT: Final = 0.5  # white numbers on dark cells
IN_A_ROW: Final = 4  # maps beside each other, as many as heads in the chapter


@dataclass(frozen=True, kw_only=True)
class Heatmap:
    """How much each row read of each column."""

    title: str
    rows: Sequence[str]  # who looked
    columns: Sequence[str]  # at what
    weights: Sequence[Sequence[float]]  # a row sums to 1


def as_table(heatmap: Heatmap) -> str:
    """For a terminal: percent and a shade in each cell; Hangul is two columns wide."""
    labels = [printable(label) for label in heatmap.columns]
    widths = [max(width(label), 4) for label in labels]
    rows = [printable(label) for label in heatmap.rows]
    margin = max(map(width, rows), default=0)
    lines = [heatmap.title] if heatmap.title else []
    head = [padded(label, size) for label, size in zip(labels, widths, strict=True)]
    lines.append(" " * margin + " │ " + " ".join(head).rstrip())
    lines.append("─" * margin + "─┼" + "─" * (sum(widths) + len(widths)))
    for row, values in zip(rows, heatmap.weights, strict=True):
        cells = [padded(_cell(v), size) for v, size in zip(values, widths, strict=True)]
        lines.append(padded(row, margin) + " │ " + " ".join(cells).rstrip())
    return "\n".join(lines)


def as_svg(heatmaps: Sequence[Heatmap]) -> str:
    """One picture of several maps, four beside each other; the viewer's fonts draw the Hangul."""
    parts, x, y, widest, tallest = [], 0, 0, 0, 0
    for n, heatmap in enumerate(heatmaps):
        if n and n % IN_A_ROW == 0:
            x, y, tallest = 0, y + tallest, 0
        frame = _frame(heatmap)
        parts += [f'<g transform="translate({x},{y})">', *_svg_cells(heatmap, frame), "</g>"]
        x, tallest = x + frame.width, max(tallest, frame.height)
        widest = max(widest, x)
    whole = f'width="{widest}" height="{y + tallest}" viewBox="0 0 {widest} {y + tallest}"'
    name = _text("; ".join(heatmap.title for heatmap in heatmaps))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {whole} role="img" aria-label="{name}" '
            'font-family="sans-serif" font-size="13">',
            '<rect width="100%" height="100%" fill="white"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _cell(value: float) -> str:
    """Such as " 62▓"; a dot for what rounds to zero."""
    percent = round(100 * value)
    if percent == 0:
        return "  ·"
    return f"{percent:>3}{SHADES[min(int(value * len(SHADES)), len(SHADES) - 1)]}"


class _Frame(NamedTuple):
    """Pixels: margins for the labels, and the size of the whole."""

    left: int
    top: int
    width: int
    height: int


def _frame(heatmap: Heatmap) -> _Frame:
    left = 20 + 8 * max(map(width, heatmap.rows), default=0)
    top = 40 + 8 * max(map(width, heatmap.columns), default=0)
    across = max(left + CELL * len(heatmap.columns) + 20, 8 * width(heatmap.title) + 20)
    return _Frame(left, top, across, top + CELL * len(heatmap.rows) + 20)


def _svg_cells(heatmap: Heatmap, frame: _Frame) -> Iterator[str]:
    yield f'<text x="10" y="20" font-weight="bold">{_text(heatmap.title)}</text>'
    for i, column in enumerate(heatmap.columns):
        place = f"translate({frame.left + CELL * i + CELL // 2 + 4},{frame.top - 6}) rotate(-90)"
        yield f'<text transform="{place}">{_text(column)}</text>'
    for j, (row, values) in enumerate(zip(heatmap.rows, heatmap.weights, strict=True)):
        y = frame.top + CELL * j
        yield f'<text x="{frame.left - 6}" y="{y + 22}" text-anchor="end">{_text(row)}</text>'
        for i, value in enumerate(values):
            what = f"{_text(row)} → {_text(heatmap.columns[i])}: {100 * value:.1f} %"
            yield from _svg_cell(frame.left + CELL * i, y, value, what)


def _svg_cell(x: int, y: int, value: float, what: str) -> Iterator[str]:
    light = round(255 * (1 - value))
    yield (
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="rgb({light},{light},255)" '
        f'stroke="#ddd"><title>{what}</title></rect>'
    )
    if percent := round(100 * value):
        ink = "white" if value > INK_CHANGES_AT else "#333"
        yield (
            f'<text x="{x + CELL // 2}" y="{y + 21}" font-size="11" text-anchor="middle" '
            f'fill="{ink}">{percent}</text>'
        )


def _text(label: str) -> str:
    return escape(printable(label))
