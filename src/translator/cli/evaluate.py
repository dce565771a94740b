"""`translator evaluate`: how good a model is on pairs that it has not seen."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from translator.checkpoint import PRETRAINED
from translator.config import DecodingConfig
from translator.documents import translate_lines
from translator.errors import UserError
from translator.evaluation import (
    TWO_SENTENCES,
    Judged,
    Share,
    Summary,
    as_plain,
    disturbed,
    grouped,
    summarize,
)
from translator.hardware import keep_memory
from translator.inference import Translator
from translator.levels import DEFAULT_STYLE
from translator.metrics import METRICS, MORPHEMES, Comparison, Score, chrf, compare, scores
from translator.pairs import Pair, Report, read_pairs

AT_ONCE = 512


def run(args: argparse.Namespace) -> None:
    """Translates the English side, compares with the Korean side, prints a table or JSON."""
    keep_memory()
    pairs = _read(args.data)
    models = args.compare or [args.model or PRETRAINED]
    metrics = [*METRICS, MORPHEMES] if args.morphemes else METRICS
    judged = [_judge(str(model), pairs, args) for model in models]
    wanted = [pair.tgt for pair, _ in pairs]
    written = [[item.translation for item in items] for items in judged]
    found = [scores(texts, wanted, metrics, args.bootstrap) for texts in written]
    typed = []
    if args.robustness:
        typed = [
            _robustness(str(model), items, args)
            for model, items in zip(models, judged, strict=True)
        ]
    versus: list[Comparison] = []
    if len(models) == 2:
        versus = compare(written[0], written[1], wanted, metrics, args.bootstrap)
    if args.out is not None:
        _save(Path(args.out), judged[-1])
    if args.json:
        print(
            json.dumps(_plain(models, judged, found, typed, versus), ensure_ascii=False, indent=1)
        )
        return
    for model, items, figures in zip(models, judged, found, strict=True):
        name = "pretrained" if model == PRETRAINED else model
        print(f"{name} on {', '.join(args.data)}: {_count(len(items))}\n")
        print("\n".join([*_score_lines(figures), "", *_table(items), ""]))
    for rows in typed:
        print("\n".join([*_typed_lines(rows), ""]))
    if versus:
        print(f"{models[1]} against {models[0]}, paired bootstrap resampling\n")
        print("\n".join(_versus_lines(versus)))


def _count(n: int) -> str:
    return f"{n} pair{'s' * (n != 1)}"


def _read(paths: Sequence[str]) -> list[tuple[Pair, str]]:
    """Every pair and the file that it is from."""
    report = Report()
    pairs = [(pair, path) for path in paths for pair in read_pairs([path], report)]
    for line in report.lines():
        print(f"translator: {line}", file=sys.stderr)
    if not pairs:
        raise UserError(f"{', '.join(paths)}: no pair to judge by")
    return pairs


def _judge(model: str, pairs: Sequence[tuple[Pair, str]], args: argparse.Namespace) -> list[Judged]:
    """What a model writes for each pair, at the level of its Korean or the one asked for."""
    translator = Translator.from_pretrained(model)
    options = translator.config.override(args.set).decoding if args.set else None
    options = options or translator.config.decoding
    if args.beam_size is not None:
        options = replace(options, beam_size=args.beam_size, n_best=1)
    asked = [args.style or _level(pair) for pair, _ in pairs]
    judged: list[Judged | None] = [None] * len(pairs)
    with tqdm(total=len(pairs), file=sys.stderr, disable=None, unit="pair") as bar:
        for level in sorted(set(asked)):
            places = [i for i, wanted in enumerate(asked) if wanted == level]
            for start in range(0, len(places), AT_ONCE):
                part = places[start : start + AT_ONCE]
                found = _translated(translator, pairs, part, level, options)
                for i, item in zip(part, found, strict=True):
                    judged[i] = item
                bar.update(len(part))
    return [item for item in judged if item is not None]


def _translated(
    translator: Translator,
    pairs: Sequence[tuple[Pair, str]],
    places: Sequence[int],
    level: str,
    options: DecodingConfig,
) -> Iterator[Judged]:
    lines = translate_lines(translator, [pairs[i][0].src for i in places], level, options)
    for i, line in zip(places, lines, strict=True):
        pair, path = pairs[i]
        yield Judged(pair, level, line.text, line.finished, path)


class Typed(NamedTuple):
    """chrF of the sentences that a kind of careless typing changes, as they were and as typed."""

    kind: str
    n: int
    before: float
    after: float


def _robustness(model: str, items: Sequence[Judged], args: argparse.Namespace) -> list[Typed]:
    known, before = [item.pair for item in items], [item.translation for item in items]
    found = []
    for kind, places, others in disturbed(known):
        if not places:
            continue
        after = [item.translation for item in _judge(model, [(p, "") for p in others], args)]
        plain = [before[i] for i in places]
        if kind == TWO_SENTENCES:
            plain = [f"{before[i]} {before[i + 1]}" for i in places]
        wanted = [pair.tgt for pair in others]
        found.append(Typed(kind, len(places), chrf(plain, wanted), chrf(after, wanted)))
    return found


def _typed_lines(rows: Sequence[Typed]) -> Iterator[str]:
    yield "| typed with | sentences | chrF as they were | as typed |"
    yield "|---|---|---|---|"
    for row in rows:
        yield f"| {row.kind} | {row.n} | {row.before:.1f} | {row.after:.1f} |"


def _level(pair: Pair) -> str:
    return DEFAULT_STYLE if pair.level == "any" else pair.level


def _score_lines(figures: Sequence[Score]) -> Iterator[str]:
    for figure in figures:
        margin = "" if figure.margin is None else f" ± {figure.margin:.1f}"
        yield f"{figure.metric:16} {figure.value:5.1f}{margin:8} {figure.signature}"


def _table(items: Sequence[Judged]) -> Iterator[str]:
    yield "| | sentences | chrF | exact | at the level | copied | repeated | cut |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, summary in (("all", summarize(items)), *grouped(items)):
        yield f"| {name} | {_cells(summary)} |"


def _cells(summary: Summary) -> str:
    shares = (summary.exact, summary.level, summary.copied, summary.repeated, summary.cut)
    return " | ".join([str(summary.n), f"{summary.chrf:.1f}", *map(_percent, shares)])


def _percent(share: Share) -> str:
    return "–" if share.share is None else f"{100 * share.share:.1f} %"


def _versus_lines(versus: Sequence[Comparison]) -> Iterator[str]:
    yield "| | first | second | difference | p |"
    yield "|---|---|---|---|---|"
    for item in versus:
        difference = item.second - item.first
        yield (
            f"| {item.metric} | {item.first:.1f} | {item.second:.1f} | {difference:+.1f} "
            f"| {item.p_value:.3f} |"
        )


def _plain(
    models: Sequence[object],
    judged: Sequence[Sequence[Judged]],
    found: Sequence[Sequence[Score]],
    typed: Sequence[Sequence[Typed]],
    versus: Sequence[Comparison],
) -> dict[str, Any]:
    return {
        "models": [
            {
                "model": "pretrained" if model == PRETRAINED else str(model),
                "scores": [figure._asdict() for figure in figures],
                "all": as_plain(summarize(items)),
                "parts": {name: as_plain(summary) for name, summary in grouped(items)},
            }
            for model, items, figures in zip(models, judged, found, strict=True)
        ],
        "robustness": [[row._asdict() for row in rows] for rows in typed],
        "comparison": [item._asdict() for item in versus],
    }


def _save(path: Path, items: Sequence[Judged]) -> None:
    """English, reference, level asked for, translation."""
    rows = ((i.pair.src, i.pair.tgt, i.asked, i.translation) for i in items)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
