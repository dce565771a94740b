"""`translator evaluate`: how good a model is on pairs that it has not seen."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TextIO

from tqdm import tqdm

from translator.cli.evaluation_text import Evaluated, as_dict, as_lines, saved_lines
from translator.cli.model import load_translator
from translator.cli.options import search_options
from translator.cli.output import writing
from translator.config import DecodingConfig
from translator.documents import (
    TranslatedLine,
    asked_level,
    translate_lines,
    translate_pairs,
)
from translator.errors import UserError
from translator.evaluation import TWO_SENTENCES, Careless, Judged, disturbed
from translator.hardware import keep_memory
from translator.inference import Translator
from translator.metrics import (
    METRICS,
    MORPHEMES,
    Comparison,
    check_available,
    chrf,
    compare,
    scores,
)
from translator.pairs import Pair, Report, files_of, read_pairs
from translator.terminal import json_text, printable
from translator.translation import TooLong

AT_ONCE = 512


def run(args: argparse.Namespace) -> None:
    """Translates the English side, compares with the Korean side, prints a table or JSON."""
    metrics = [*METRICS, MORPHEMES] if args.morphemes else METRICS
    check_available(metrics)
    if args.compare and args.bootstrap < 2:
        raise UserError(
            f"--bootstrap {args.bootstrap}: a comparison needs samples; leave it out, or judge one "
            "model at a time"
        )
    if args.out is not None:
        read = (Path(path).resolve() for entry in args.data for path in files_of(entry))
        if Path(args.out).resolve() in read:
            raise UserError(f"--out {args.out}: would overwrite what --data reads; name another")
    keep_memory()
    pairs = _read(args.data, args.encoding)
    models = args.compare or [args.model]
    with _saved_to(args.out) as out:
        found = [_evaluated(model, pairs, metrics, args) for model in models]
        versus: list[Comparison] = []
        if len(found) == 2:
            first, second = ([item.translation for item in one.items] for one in found)
            wanted = [pair.tgt for pair, _ in pairs]
            versus = compare(first, second, wanted, metrics, args.bootstrap)
        if args.json:
            print(json_text(as_dict(found, versus), indent=1))
        else:
            print("\n".join(as_lines(found, versus, args.data)))
        if out is not None:
            out.writelines(f"{line}\n" for line in saved_lines(found))


def _saved_to(path: str | None) -> AbstractContextManager[TextIO | None]:
    """Opened before the work, which would be lost if only its end showed that this cannot be."""
    if path is None:
        return nullcontext()
    return writing(path)


def _read(paths: Sequence[str], encoding: str) -> list[tuple[Pair, str]]:
    """Every pair and the file that it is from."""
    report = Report()
    pairs = [(pair, path) for path in paths for pair in read_pairs([path], report, encoding)]
    for line in report.lines():
        print(f"translator: {printable(line)}", file=sys.stderr)
    if not pairs:
        raise UserError(f"{', '.join(paths)}: no pair to judge by")
    return pairs


def _evaluated(
    model: str | None,
    pairs: Sequence[tuple[Pair, str]],
    metrics: Sequence[str],
    args: argparse.Namespace,
) -> Evaluated:
    """All that is asked about one model."""
    translator = load_translator(model, args.device)
    options = search_options(translator.config, args, n_best=1)
    items = _judge(translator, pairs, options, args.style)
    texts, wanted = [item.translation for item in items], [pair.tgt for pair, _ in pairs]
    return Evaluated(
        model="pretrained" if model is None else model,
        items=items,
        figures=scores(texts, wanted, metrics, args.bootstrap),
        careless=_careless(translator, items, options, args.style) if args.robustness else [],
    )


def _judge(
    translator: Translator,
    pairs: Sequence[tuple[Pair, str]],
    options: DecodingConfig,
    style: str | None,
) -> list[Judged]:
    """What a model writes for each pair, at the level of its Korean or the one asked for."""
    judged: list[Judged] = []
    with tqdm(total=len(pairs), file=sys.stderr, disable=None, unit="pair") as bar:
        for start in range(0, len(pairs), AT_ONCE):
            part = pairs[start : start + AT_ONCE]
            known = [pair for pair, _ in part]
            try:
                lines = _translated(translator, known, options, style)
            except TooLong as error:
                pair, path = part[error.index]
                raise UserError(f"{path}: {_shown(pair.src)}: {error}") from None
            judged += [
                Judged(pair, _asked(pair, style), line.text, line.finished, path)
                for (pair, path), line in zip(part, lines, strict=True)
            ]
            bar.update(len(part))
    return judged


def _shown(english: str) -> str:
    return english if len(english) <= 60 else f"{english[:60]}…"


def _translated(
    translator: Translator, pairs: Sequence[Pair], options: DecodingConfig, style: str | None
) -> list[TranslatedLine]:
    if style is not None:
        return translate_lines(translator, [pair.src for pair in pairs], style, options)
    return translate_pairs(translator, pairs, options)


def _asked(pair: Pair, style: str | None) -> str:
    return style or asked_level(pair)


def _careless(
    translator: Translator, items: Sequence[Judged], options: DecodingConfig, style: str | None
) -> list[Careless]:
    """The same sentences typed in another way."""
    before = [item.translation for item in items]
    found = []
    for kind, places, pairs in disturbed([item.pair for item in items]):
        if not places:
            continue
        typed = [(pair, items[i].group) for i, pair in zip(places, pairs, strict=True)]
        after = [item.translation for item in _judge(translator, typed, options, style)]
        clean = [before[i] for i in places]
        if kind == TWO_SENTENCES:
            clean = [f"{before[i]} {before[i + 1]}" for i in places]
        wanted = [pair.tgt for pair in pairs]
        found.append(Careless(kind, len(places), chrf(clean, wanted), chrf(after, wanted)))
    return found
