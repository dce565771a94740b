"""`translator translate`: one line out for one line in, whatever the line holds."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Never, TextIO

import torch
from tqdm import tqdm

from translator.cli.lines import count_lines, decoded, file_lines, grouped
from translator.cli.model import load_translator
from translator.cli.options import search_options
from translator.cli.output import writing
from translator.documents import TranslatedLine, translate_lines
from translator.errors import UserError
from translator.hardware import keep_memory
from translator.subtitles import has_times, read_subtitles, write_subtitles
from translator.terminal import json_text
from translator.translation import TooLong

LINES_AT_ONCE = 1024
CORES_FOR_ONE = 4
_ONE_CELL = dict.fromkeys((*range(32), *range(127, 160)), " ")  # tabs, line ends, other controls

Translate = Callable[[Sequence[str]], list[TranslatedLine]]


def run(args: argparse.Namespace) -> None:
    """Translates the arguments, a file, or standard input; translations to stdout or --output,
    warnings to stderr.
    """
    if args.text and args.file is not None:
        raise UserError(f"both sentences and --file {args.file} were given; choose one")
    same = args.file is not None and args.output is not None
    if same and Path(args.file).resolve() == Path(args.output).resolve():
        raise UserError(f"--output {args.output} is the file to be translated; choose another name")
    subtitles = args.file is not None and args.file.lower().endswith(".srt")
    if subtitles and args.format != "text":
        raise UserError(f"--format {args.format}: subtitles stay subtitles; leave it out")
    if subtitles and (args.n_best or 1) > 1:
        raise UserError(f"--n-best {args.n_best}: a subtitle has one text; leave it out")
    torch.set_num_threads(args.threads or _threads(args))  # before an export is opened
    keep_memory()
    translator = load_translator(args.model, args.device)
    options = search_options(translator.config, args, args.n_best)
    if args.verbose:
        print(f"translator: {translator.describe(options)}", file=sys.stderr)
    translate = partial(
        translate_lines,
        translator,
        style=args.style,
        options=options,
        use_cache=not args.no_cache,
    )
    if _is_one_in_pieces(args.text):
        print(
            "translator: each word is translated by itself; put quotes around a sentence",
            file=sys.stderr,
        )
    with _output(args.output) as out:
        if subtitles:
            _translate_subtitles(args, translate, out)
        else:
            _translate_all(args, translate, out)


def _is_one_in_pieces(texts: Sequence[str]) -> bool:
    """Whether it looks like one sentence without the quotes around it."""
    return len(texts) > 2 and all(text.isalpha() for text in texts[:-1]) and " " not in texts[-1]


def _threads(args: argparse.Namespace) -> int:
    """One sentence is too little work for many cores: they would wait for each other. (Two cores
    were measured; four is a guess on the safe side.)
    """
    cores = torch.get_num_threads()
    return cores if args.file is not None else min(cores, CORES_FOR_ONE)


def _output(path: str | None) -> AbstractContextManager[TextIO]:
    if path is None:
        return nullcontext(sys.stdout)
    return writing(path)


def _translate_all(args: argparse.Namespace, translate: Translate, out: TextIO) -> None:
    write = _FORMATS[args.format]
    with _bar(args, "line") as bar:
        for results in _translated(_inputs(args), translate, "line", bar):
            out.writelines(f"{write(result, number)}\n" for number, result in results)
            out.flush()


def _translate_subtitles(args: argparse.Namespace, translate: Translate, out: TextIO) -> None:
    """Each subtitle's text as one line, so that a sentence over two lines stays one sentence."""
    lines = list(file_lines(args.file))
    if any(map(str.strip, lines)) and not has_times(lines):
        raise UserError(f"{args.file}: no subtitles found; if it is plain text, rename it to .txt")
    subtitles = read_subtitles(lines)
    groups = grouped((subtitle.text for subtitle in subtitles), LINES_AT_ONCE)
    texts: list[str] = []
    with _bar(args, "subtitle", len(subtitles)) as bar:
        for results in _translated(groups, translate, "subtitle", bar):
            texts += [result.text for _, result in results]
    out.writelines(f"{line}\n" for line in write_subtitles(subtitles, texts))


def _translated(
    groups: Iterable[Sequence[str]], translate: Translate, noun: str, bar: "tqdm[Never]"
) -> Iterator[list[tuple[int, TranslatedLine]]]:
    """Group by group each line's number and what came of it. Warnings go to stderr.

    Args:
        noun: what a line is called in messages
    """
    first = 1
    for group in groups:
        try:
            results = list(enumerate(translate(group), first))
        except TooLong as error:
            raise UserError(f"{noun} {first + error.index}: {error}") from None
        for number, result in results:
            for warning in result.warnings:
                tqdm.write(f"translator: {noun} {number}: {warning}", file=sys.stderr)
        yield results
        first += len(group)
        bar.update(len(group))


def _as_text(result: TranslatedLine, _: int) -> str:
    """The translation, and further ones after tabs."""
    return "\t".join([result.text, *(text for text, _ in result.alternatives)])


def _as_tsv(result: TranslatedLine, _: int) -> str:
    """Source, translation, score; then text and score of each further one."""
    cells = [result.source.translate(_ONE_CELL), result.text, f"{result.score:.4f}"]
    for text, score in result.alternatives:
        cells += [text, f"{score:.4f}"]
    return "\t".join(cells)


def _as_jsonl(result: TranslatedLine, number: int) -> str:
    """Everything that is known, one JSON object."""
    row = {
        "line": number,
        "source": result.source,
        "translation": result.text,
        "score": round(result.score, 4),
        "finished": result.finished,
        "warnings": list(result.warnings),
        "pieces": [piece for part in result.parts for piece in part.pieces],
        "alternatives": [
            {"translation": text, "score": round(score, 4)} for text, score in result.alternatives
        ],
    }
    return json_text(row)


_FORMATS = {"text": _as_text, "tsv": _as_tsv, "jsonl": _as_jsonl}


def _bar(args: argparse.Namespace, unit: str, total: int | None = None) -> "tqdm[Never]":
    """A progress bar, for a file whose translations do not go to the same terminal.

    Args:
        total: None counts the lines of the file
    """
    shown = args.file is not None and sys.stderr.isatty()
    shown = shown and (args.output is not None or not sys.stdout.isatty())
    if shown and total is None:
        total = count_lines(args.file)
    return tqdm(total=total, file=sys.stderr, disable=not shown, unit=unit, dynamic_ncols=True)


def _inputs(args: argparse.Namespace) -> Iterator[Sequence[str]]:
    """Groups of lines; standard input is answered line by line."""
    if args.text:
        yield [os.fsencode(text).decode("utf-8", "replace") for text in args.text]
    elif args.file is not None:
        yield from grouped(file_lines(args.file), LINES_AT_ONCE)
    else:
        if sys.stdin.isatty():
            print("Type English, one sentence a line; Ctrl-D ends.", file=sys.stderr)
        yield from grouped(decoded(sys.stdin.buffer, "standard input"), 1)
