"""`translator corpus`: read or split files as training would; check `data/`, report it, draw pairs
from frames, rebuild.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from translator.corpus.build import convert_levels, draw_pairs, write_conjugations
from translator.corpus.check import check_corpus
from translator.corpus.coverage import read_word_list
from translator.corpus.drawing import FrameSet
from translator.corpus.lines import Line, corpus_parts
from translator.corpus.report import report_text
from translator.errors import UserError
from translator.files import write_lines
from translator.heldout import HeldOut
from translator.levels import SPOKEN
from translator.pairs import Pair, Report, files_of, read_pairs
from translator.terminal import printable


def run(args: argparse.Namespace) -> None:
    """One of the actions read, split, check, report, draw, convert, conjugate."""
    if args.data is not None and args.action in {"read", "split"}:
        raise UserError(f"--data {args.data}: {args.action} reads the files it is given; omit it")
    if args.action == "read":
        _read(args.files, args.encoding)
        return
    if args.action == "split":
        _split(args)
        return
    data = Path("data" if args.data is None else args.data)
    if not data.is_dir():
        raise UserError(f"{data}: no such data directory (working directory: {Path.cwd()})")
    if args.action == "check":
        _check(data)
    elif args.action == "report":
        report = _report(data, corpus_parts(data), FrameSet.read(data))
        _write(data / "REPORT.md", report.split("\n"))
    elif args.action == "draw":
        pairs = draw_pairs(
            data,
            args.per_frame,
            _levels(args.levels),
            args.seed,
            held_out=args.held_out,
            words=args.words,
        )
        if not pairs:
            raise UserError(f"{data}: no frame has a sentence at these levels")
        _write(Path(args.out), list(map("\t".join, pairs)))
    elif args.action == "convert":
        _convert(data)
    else:
        print(f"{write_conjugations(data)} forms", file=sys.stderr)


class _Told(Report):
    """Tells every dropped or odd row, not only the first of its kind."""

    def drop(self, reason: str, place: str) -> None:
        super().drop(reason, place)
        print(printable(f"{place}: {reason}"))

    def keep(self, pair: Pair, place: str) -> None:
        odd = self.odd
        super().keep(pair, place)
        if self.odd > odd:
            print(f"{printable(place)}: kept, but Hangul in the English or none in the Korean")


def _read(files: Sequence[str], encoding: str) -> None:
    report = _Told()
    levels = Counter(pair.level for pair in read_pairs(files, report, encoding))
    shown = ", ".join(f"{level} {count}" for level, count in levels.most_common())
    for line in [*report.lines(), f"{report.kept} pairs" + (f" ({shown})" if shown else "")]:
        print(printable(line), file=sys.stderr)


def _split(args: argparse.Namespace) -> None:
    read = [Path(path).resolve() for entry in args.files for path in files_of(entry)]
    paths = [*read, Path(args.test).resolve(), Path(args.train).resolve()]
    if len(set(paths)) < len(paths):
        raise UserError("--test, --train and the files to read must be different files")
    report, held_out = Report(), HeldOut(args.size, args.seed)
    pairs = list(read_pairs(args.files, report, args.encoding))
    for line in report.lines():
        print(printable(line), file=sys.stderr)
    for pair in pairs:
        held_out.offer(pair)
    if not pairs:
        raise UserError(f"{', '.join(args.files)}: no usable pair")
    if not held_out.left_over:
        raise UserError(f"--size: {args.size} takes every English sentence; lower it")
    rest = [pair for pair in pairs if pair.src not in held_out]
    for path, chosen in ((args.test, held_out.pairs()), (args.train, rest)):
        _write(Path(path), list(map("\t".join, chosen)))


def _levels(text: str) -> list[str]:
    levels = list(dict.fromkeys(part.strip() for part in text.split(",")))
    for level in levels:
        if level not in SPOKEN:
            raise UserError(f"--levels: unknown level {level!r}; choose from {', '.join(SPOKEN)}")
    return levels


def _check(data: Path) -> None:
    parts = corpus_parts(data)
    for part, lines in parts.items():
        if not lines:
            raise UserError(f"{data / part}: no corpus file there; expected *.tsv with lines in it")
    findings = check_corpus(parts)
    for finding in findings:
        print(printable(str(finding)))
    frame_set = FrameSet.read(data)
    if findings:
        raise UserError(f"{data}: {len(findings)} findings; mend the lines named above")
    print(_report(data, parts, frame_set))
    n_pairs = sum(map(len, parts.values()))
    print(f"no findings in {n_pairs} pairs and {len(frame_set.frames)} frames", file=sys.stderr)


def _report(data: Path, parts: Mapping[str, Sequence[Line]], frame_set: FrameSet) -> str:
    return report_text(parts, frame_set, read_word_list(data / "english-words.txt"))


def _convert(data: Path) -> None:
    converted, left_out = convert_levels(data)
    for level, pairs in converted.items():
        _write(data / "converted" / f"{level}.tsv", list(map("\t".join, pairs)))
        print(f"{level}: {len(pairs)} converted, {left_out[level]} left out", file=sys.stderr)


def _write(path: Path, lines: Sequence[str]) -> None:
    write_lines(path, lines)
    print(f"{path}: {len(lines)} lines", file=sys.stderr)
