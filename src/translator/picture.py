"""Heat maps as files: SVG, PNG (with the extra 'plot'), or the bare numbers as JSON."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from translator.errors import UserError, lacks
from translator.files import replacing
from translator.hangul import has_hangul
from translator.heatmap import IN_A_ROW, INK_CHANGES_AT, Heatmap, as_svg
from translator.romanization import romanized
from translator.terminal import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KOREAN_FONTS: Final = (
    *("Noto Sans KR", "Noto Sans CJK KR", "NanumGothic", "Nanum Gothic", "NanumBarunGothic"),
    *("Malgun Gothic", "Apple SD Gothic Neo", "AppleGothic", "Pretendard", "UnDotum", "Unifont"),
)


class PictureError(UserError, ValueError):
    """A picture cannot be drawn: a package or font is missing, or the kind of file is unknown."""


def save_picture(
    heatmaps: Sequence[Heatmap], path: str | Path, font: str | None = None
) -> tuple[str, ...]:
    """Writes .svg, .png or .json.

    Args:
        heatmaps: drawn beside each other, four in a row
        font: for .png, the name or the file of a font that has Hangul; None looks for one

    Returns:
        What the user should know. Without a font with Hangul a PNG has romanised labels, and the
        numbers with the real labels are written beside it as .json.

    Raises:
        PictureError: another ending, no such font, or matplotlib is missing.
    """
    check_ending(path)
    path = Path(path)
    ending = path.suffix.lower()
    if ending == ".svg":
        with replacing(path) as file:
            file.write(as_svg(heatmaps).encode())
    elif ending == ".json":
        _save_numbers(heatmaps, path)
    else:
        return _save_png(heatmaps, path, font)
    return ()


def check_ending(path: str | Path) -> None:
    """Before the work is done.  Raises PictureError: no kind of file that can be written."""
    if Path(path).suffix.lower() not in {".svg", ".png", ".json"}:
        raise PictureError(f"{path}: the ending must be .svg, .png or .json")


def _save_numbers(heatmaps: Sequence[Heatmap], path: Path) -> None:
    numbers = json.dumps([asdict(heatmap) for heatmap in heatmaps], ensure_ascii=False)
    with replacing(path) as file:
        file.write(f"{numbers}\n".encode())


def _save_png(heatmaps: Sequence[Heatmap], path: Path, font: str | None) -> tuple[str, ...]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise PictureError(
            lacks("PNG needs matplotlib", "plot") + "; or write .svg, which needs nothing"
        ) from None
    family = _korean_font(font)
    notes: tuple[str, ...] = ()
    if family is None and any(has_hangul("".join((*h.rows, *h.columns))) for h in heatmaps):
        numbers = path.with_suffix(".json")
        _save_numbers(heatmaps, numbers)
        notes = (
            f"no font with Hangul was found, so {path} has romanised labels and {numbers} the real "
            "ones; install one, such as Noto Sans KR or NanumGothic, name one with --font, or "
            "write .svg",
        )
    columns = min(len(heatmaps), IN_A_ROW)
    rows = -(-len(heatmaps) // columns)
    wide = max(len(heatmap.columns) for heatmap in heatmaps)
    high = max(len(heatmap.rows) for heatmap in heatmaps)
    size = (columns * (1.5 + 0.45 * wide), rows * (1.5 + 0.45 * high))
    figure = Figure(figsize=size, layout="constrained")  # no window, no display
    all_axes = figure.subplots(rows, columns, squeeze=False).flatten()
    for axes, heatmap in zip(all_axes, heatmaps, strict=False):
        _draw(axes, heatmap, family)
    for axes in all_axes[len(heatmaps) :]:
        axes.set_axis_off()
    with replacing(path) as file:
        figure.savefig(file, format="png", dpi=150)
    return notes


def _draw(axes: "Axes", heatmap: Heatmap, family: str | None) -> None:
    style: dict[str, Any] = {} if family is None else {"fontfamily": family}
    rows, columns = (
        [_drawable(label, family) for label in labels] for labels in (heatmap.rows, heatmap.columns)
    )
    axes.imshow(heatmap.weights, cmap="Blues", vmin=0, vmax=1)
    axes.set_title(_drawable(heatmap.title, family), fontsize=9, **style)
    axes.set_xticks(range(len(columns)), columns, rotation=90, **style)
    axes.set_yticks(range(len(rows)), rows, **style)
    for j, values in enumerate(heatmap.weights):
        for i, value in enumerate(values):
            if percent := round(100 * value):
                ink = "white" if value > INK_CHANGES_AT else "#333333"
                axes.text(i, j, str(percent), ha="center", va="center", fontsize=7, color=ink)


def _korean_font(wanted: str | None) -> str | None:
    """The name of an installed font that has Hangul, or of the one that is wanted."""
    from matplotlib import font_manager

    if wanted is not None and Path(wanted).is_file():
        font_manager.fontManager.addfont(wanted)
        return font_manager.FontProperties(fname=wanted).get_name()
    names = KOREAN_FONTS if wanted is None else (wanted,)
    found = _first_installed(names)
    if found is None:  # matplotlib remembers the fonts of its first day
        known = {font.fname for font in font_manager.fontManager.ttflist}
        for file in set(font_manager.findSystemFonts()) - known:
            with suppress(OSError, RuntimeError):  # a damaged or foreign font is none
                font_manager.fontManager.addfont(file)
        found = _first_installed(names)
    if wanted is not None and found is None:
        raise PictureError(f"--font {wanted}: neither an installed font nor a font file")
    return found


def _first_installed(names: Sequence[str]) -> str | None:
    from matplotlib import font_manager

    there = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in names if name in there), None)


def _drawable(label: str, family: str | None) -> str:
    """The label in characters that the font can draw: a missing one becomes "?", so that no warning
    about glyphs is ever needed. A dollar would begin a formula.
    """
    from matplotlib import font_manager

    label = printable(label)
    if family is None:
        label = romanized(label)
    path = font_manager.findfont(font_manager.FontProperties(family=family))
    known = font_manager.get_font(path).get_charmap()
    return "".join(c if ord(c) in known else "?" for c in label.replace("▁", "_")).replace(
        "$", r"\$"
    )
