"""`translator trace`: one translation told step by step, with the shapes of the running model."""

import argparse
import sys
from collections.abc import Iterable, Sequence

from translator.as_json import trace_as_dict
from translator.cli.model import load_translator
from translator.documents import check_one_sentence
from translator.looking import KINDS
from translator.terminal import json_text, padded, printable, width
from translator.tracing import GreedyStep, Shape, Trace, trace

WIDEST_MASK = 40  # columns; the lines of a wider one would break in most terminals
FROM = {
    "encoder": ("encoder self-attention", "source", "source", "padding"),
    "decoder": ("masked self-attention", "target", "target", "padding and future"),
    "cross": ("cross-attention", "target", "memory (last encoder layer)", "source padding"),
}


def run(args: argparse.Namespace) -> None:
    """Prints the story, or the same as JSON."""
    translator = load_translator(args.model, args.device)
    check_one_sentence(translator, args.text)
    found = trace(translator, args.text, args.style)
    for warning in found.warnings:
        print(f"translator: {warning}", file=sys.stderr)
    if args.json:
        print(json_text(trace_as_dict(found)))
        return
    parts = (_tokens(found), _shapes(found), _attentions(found), _masks(found), _steps(found))
    print("\n\n".join("\n".join(part) for part in parts))


def _tokens(found: Trace) -> Iterable[str]:
    yield f"1. Tokens: {found.text!r} at level {found.style}"
    source, target = found.looking.source.pieces, found.looking.read.pieces
    yield f"   source (S = {len(source)}): {_joined(source)}"
    yield f"   target (T = {len(target)}): {_joined(target)}"


def _shapes(found: Trace) -> Iterable[str]:
    yield "2. Through the blocks: what each was given -> what it returned"
    rows = [
        (
            "  " * shapes.depth + (shapes.module or "model"),
            shapes.kind,
            f"{' '.join(map(_shape, shapes.inputs))} -> {' '.join(map(_shape, shapes.outputs))}",
        )
        for shapes in found.shapes
    ]
    yield from _columns(rows)


def _attentions(found: Trace) -> Iterable[str]:
    yield "3. Three attentions, one formula"
    head = ("attention", "query from", "key and value from", "masked", "weights")
    rows = [(*FROM[kind], _shape(found.weights_shape(kind))) for kind in KINDS]
    yield from _columns([head, *rows])


def _masks(found: Trace) -> Iterable[str]:
    yield "4. Masks: ■ may look there, · may not"
    for kind in KINDS:
        rows, columns = found.looking.axes(kind)
        yield f"   {FROM[kind][0]}, {_shape(tuple(found.masks[kind].shape))}"
        if len(columns.pieces) > WIDEST_MASK:
            yield f"   not drawn: it is wider than {WIDEST_MASK} columns (--json has it)"
            continue
        margin = max(width(printable(label)) for label in rows.pieces)
        for label, allowed in zip(rows.pieces, found.masks[kind].tolist(), strict=True):
            cells = " ".join("■" if may else "·" for may in allowed)
            yield f"   {padded(printable(label), margin)}  {cells}"


def _steps(found: Trace) -> Iterable[str]:
    yield f"5. Greedy decoding: logits {_shape(found.logits)}, the likeliest token each time;"
    yield "   where it looked is the mean of all layers and heads of cross-attention"
    source = found.looking.source.pieces
    for number, step in enumerate(found.steps, 1):
        yield f"   step {number}: read {_joined(step.read)}"
        yield f"      wrote {printable(step.chosen)}  of  {_candidates(step)}"
        yield f"      looked at  {_most_looked(step, source)}"
        yield f"      so far: {step.text}"
    yield f"   {found.translation}"


def _candidates(step: GreedyStep) -> str:
    return "  ".join(f"{printable(c.piece)} {c.probability:.2f}" for c in step.candidates)


def _most_looked(step: GreedyStep, source: Sequence[str]) -> str:
    most = sorted(zip(step.looked, source, strict=True), key=lambda pair: -pair[0])[:3]
    return "  ".join(f"{printable(piece)} {100 * weight:.0f}%" for weight, piece in most)


def _joined(pieces: Sequence[str]) -> str:
    return " ".join(map(printable, pieces))


def _shape(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))})"


def _columns(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    sizes = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (padded(cell, size) for cell, size in zip(row, sizes, strict=True))
        yield "   " + "  ".join(cells).rstrip()
