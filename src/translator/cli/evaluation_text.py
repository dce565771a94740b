"""What `translator evaluate` shows: tables, JSON, and the translations themselves."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from translator.evaluation import Careless, Judged, Share, Summary, as_plain, grouped, summarize
from translator.metrics import Comparison, Score


class Evaluated(NamedTuple):
    """One model and all that was found out about it."""

    model: str
    items: Sequence[Judged]
    figures: Sequence[Score]
    careless: Sequence[Careless]  # nothing unless it was asked for


def as_lines(
    found: Sequence[Evaluated], versus: Sequence[Comparison], files: Sequence[str]
) -> Iterator[str]:
    """For people: a section for each model and, of two, their comparison."""
    for one in found:
        n = len(one.items)
        yield f"{one.model} on {', '.join(files)}: {n} pair{'s' * (n != 1)}"
        yield ""
        yield from map(_score_line, one.figures)
        yield ""
        yield from _summaries(one.items)
        yield ""
        if one.careless:
            yield from _careless(one.careless)
            yield ""
    if versus:
        first, second = (one.model for one in found)
        yield f"first {first}, second {second}, paired bootstrap resampling"
        yield ""
        yield from _comparison(versus)


def as_dict(found: Sequence[Evaluated], versus: Sequence[Comparison]) -> dict[str, Any]:
    """For programs: the same figures."""
    return {
        "models": [
            {
                "model": one.model,
                "scores": [figure._asdict() for figure in one.figures],
                "all": as_plain(summarize(one.items)),
                "parts": {name: as_plain(summary) for name, summary in grouped(one.items)},
            }
            for one in found
        ],
        "robustness": [[row._asdict() for row in one.careless] for one in found if one.careless],
        "comparison": [item._asdict() for item in versus],
    }


def saved_lines(found: Sequence[Evaluated]) -> Iterator[str]:
    """English, reference, level asked for, and the translation of each model, between tabs."""
    for items in zip(*(one.items for one in found), strict=True):
        pair, asked = items[0].pair, items[0].asked
        yield "\t".join([pair.src, pair.tgt, asked, *(item.translation for item in items)])


def _score_line(figure: Score) -> str:
    margin = "" if figure.margin is None else f" ± {figure.margin:.1f}"
    return f"{figure.metric:16} {figure.value:5.1f}{margin:8} {figure.signature}"


def _summaries(items: Sequence[Judged]) -> Iterator[str]:
    head = ["", "sentences", "chrF", "exact", "at the level", "copied", "repeated", "cut"]
    parts = [("all", summarize(items)), *grouped(items)]
    return _table(head, ([name, *_cells(summary)] for name, summary in parts))


def _cells(summary: Summary) -> list[str]:
    shares = (summary.exact, summary.level, summary.copied, summary.repeated, summary.cut)
    return [str(summary.n), f"{summary.chrf:.1f}", *map(_percent, shares)]


def _percent(share: Share) -> str:
    return "–" if share.share is None else f"{100 * share.share:.1f} %"


def _careless(rows: Sequence[Careless]) -> Iterator[str]:
    head = ["kind of typing", "sentences", "chrF, clean", "chrF, typed"]
    return _table(
        head, ([row.kind, str(row.n), f"{row.before:.1f}", f"{row.after:.1f}"] for row in rows)
    )


def _comparison(versus: Sequence[Comparison]) -> Iterator[str]:
    head = ["", "first", "second", "second - first", "p"]
    return _table(head, map(_difference, versus))


def _difference(item: Comparison) -> list[str]:
    values = [f"{item.first:.1f}", f"{item.second:.1f}", f"{item.second - item.first:+.1f}"]
    return [item.metric, *values, f"{item.p_value:.3f}"]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """In Markdown."""
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |"
