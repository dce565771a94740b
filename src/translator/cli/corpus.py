"""`translator corpus`: check what `data/` holds, report it, draw pairs from frames, rebuild."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from translator.corpus.build import convert_levels, draw_pairs, write_conjugations
from translator.corpus.check import check_apart, check_lines
from translator.corpus.frames import Grammar
from translator.corpus.report import corpus_parts, write_report
from translator.errors import UserError
from translator.levels import LEVELS
from translator.pairs import Pair


def run(args: argparse.Namespace) -> None:
    """One of the actions check, report, draw, convert, conjugate."""
    data = Path(args.data)
    if not data.is_dir():
        raise UserError(f"{data}: no such data directory (working directory: {Path.cwd()})")
    if args.action == "check":
        _check(data)
    elif args.action == "report":
        _write(data / "REPORT.md", write_report(data))
    elif args.action == "draw":
        pairs = draw_pairs(data, args.per_frame, _levels(args.levels), args.seed, args.held_out)
        if not pairs:
            raise UserError("nothing to draw; raise --per-frame")
        _write(Path(args.out), _as_tsv(pairs))
    elif args.action == "convert":
        _convert(data)
    else:
        print(f"{write_conjugations(data)} forms", file=sys.stderr)


def _levels(text: str) -> list[str]:
    levels = list(dict.fromkeys(part.strip() for part in text.split(",")))
    for level in levels:
        if level not in LEVELS[:4]:
            raise UserError(
                f"--levels: unknown level {level!r}; choose from {', '.join(LEVELS[:4])}"
            )
    return levels


def _check(data: Path) -> None:
    parts = corpus_parts(data)
    for part, lines in parts.items():
        if not lines:
            raise UserError(f"{data / part}: no corpus file there")
    by_hand = [*parts["handwritten"], *parts["heldout"]]
    findings = check_lines(by_hand) + check_lines(parts["converted"])
    held_out = {
        name: [line for line in parts["heldout"] if f"{name}.tsv" in line.place]
        for name in ("dev", "test")
    }
    findings += check_apart({"train": parts["handwritten"], **held_out})
    findings += check_apart({"converted": parts["converted"], **held_out})
    grammar = Grammar.read(data)
    for finding in findings:
        print(finding)
    if findings:
        raise UserError(f"{data}: {len(findings)} findings; mend the lines named above")
    print(write_report(data))
    n_pairs = sum(map(len, parts.values()))
    print(f"no findings in {n_pairs} pairs and {len(grammar.frames)} frames", file=sys.stderr)


def _convert(data: Path) -> None:
    converted, left_out = convert_levels(data)
    for level, pairs in converted.items():
        _write(data / "converted" / f"{level}.tsv", _as_tsv(pairs))
        print(f"{level}: {len(pairs)} converted, {left_out[level]} left out", file=sys.stderr)


def _as_tsv(pairs: Sequence[Pair]) -> str:
    return "".join("\t".join(pair) + "\n" for pair in pairs)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"{path}: {text.count(chr(10))} lines", file=sys.stderr)
