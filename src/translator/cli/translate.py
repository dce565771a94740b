"""`translator translate`: one line out for one line in, whatever the line holds."""

import argparse
import codecs
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import torch
from tqdm import tqdm

from translator.checkpoint import PRETRAINED
from translator.config import Config, DecodingConfig
from translator.documents import TranslatedLine, translate_lines
from translator.errors import UserError
from translator.hardware import keep_memory
from translator.inference import TooLong, Translator
from translator.subtitles import read_subtitles, write_subtitles

if TYPE_CHECKING:
    from typing_extensions import Never

LINES_AT_ONCE = 1024
CORES_FOR_ONE = 4

Translate = Callable[[Sequence[str]], list[TranslatedLine]]


def run(args: argparse.Namespace) -> None:
    """Translates the arguments, a file, or standard input; translations to stdout or --output,
    warnings to stderr.
    """
    if args.text and args.file is not None:
        raise UserError(f"both sentences and --file {args.file} were given; choose one")
    subtitles = args.file is not None and args.file.lower().endswith(".srt")
    if subtitles and args.format != "text":
        raise UserError(f"--format {args.format}: subtitles stay subtitles; leave it out")
    torch.set_num_threads(args.threads or _threads(args))  # before an export is opened
    keep_memory()
    translator = Translator.from_pretrained(PRETRAINED if args.model is None else args.model)
    options = _options(translator.config, args)
    if args.verbose:
        print(f"translator: {translator.describe(options)}", file=sys.stderr)
    for note in options.without_effect():
        print(f"translator: {note}", file=sys.stderr)
    translate = partial(
        translate_lines,
        translator,
        style=args.style,
        options=options,
        use_cache=not args.no_cache,
    )
    with _output(args.output) as out:
        if subtitles:
            _translate_subtitles(args.file, translate, out)
        else:
            _translate_all(args, translate, out)


def _threads(args: argparse.Namespace) -> int:
    """One sentence is too little work for many cores: they would wait for each other. (Two cores
    were measured; four is a guess on the safe side.)
    """
    cores = torch.get_num_threads()
    return cores if args.file is not None else min(cores, CORES_FOR_ONE)


def _options(config: Config, args: argparse.Namespace) -> DecodingConfig:
    """The search that the model's config describes, with what the command line says otherwise."""
    for assignment in args.set:
        if not assignment.strip().startswith("decoding."):
            raise UserError(f"--set {assignment}: only decoding.… has an effect here")
    options = config.override(args.set).decoding if args.set else config.decoding
    n_best = args.n_best or options.n_best
    beam_size = args.beam_size or max(options.beam_size, n_best)
    return replace(options, n_best=n_best, beam_size=beam_size)


def _translate_all(args: argparse.Namespace, translate: Translate, out: TextIO) -> None:
    write, number = _FORMATS[args.format], 1
    with _bar(args) as bar:
        for lines in _inputs(args):
            for result in _translated(translate, lines, number):
                _warn(result, number)
                out.write(write(result, number) + "\n")
                number += 1
            out.flush()
            bar.update(len(lines))


def _translate_subtitles(path: str, translate: Translate, out: TextIO) -> None:
    """Each subtitle's text as one line, so that a sentence over two lines stays one sentence."""
    lines = [line for group in _file_lines(path) for line in group]
    subtitles = read_subtitles(lines)
    texts = []
    for number, result in enumerate(translate([subtitle.text for subtitle in subtitles]), 1):
        _warn(result, number)
        texts.append(result.text)
    out.writelines(f"{line}\n" for line in write_subtitles(subtitles, texts))


def _translated(translate: Translate, lines: Sequence[str], first: int) -> Sequence[TranslatedLine]:
    try:
        return translate(lines)
    except TooLong as error:
        raise UserError(f"line {first + error.index}: {error}") from None


def _warn(result: TranslatedLine, number: int) -> None:
    for warning in result.warnings:
        tqdm.write(f"translator: line {number}: {warning}", file=sys.stderr)


def _as_text(result: TranslatedLine, _: int) -> str:
    """The translation, and further ones behind tabs."""
    return "\t".join([result.text, *(text for text, _ in result.alternatives())])


def _as_tsv(result: TranslatedLine, _: int) -> str:
    """Source, translation, score; then text and score of each further one."""
    cells = [" ".join(result.source.split("\t")), result.text, f"{result.score:.4f}"]
    for text, score in result.alternatives():
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
            {"translation": text, "score": round(score, 4)} for text, score in result.alternatives()
        ],
    }
    return json.dumps(row, ensure_ascii=False)


_FORMATS = {"text": _as_text, "tsv": _as_tsv, "jsonl": _as_jsonl}


def _bar(args: argparse.Namespace) -> "tqdm[Never]":
    """A progress bar, for a file whose translations do not go to the same terminal."""
    shown = args.file is not None and sys.stderr.isatty()
    shown = shown and (args.output is not None or not sys.stdout.isatty())
    total = None
    if shown:
        with open(args.file, "rb") as file:
            total = sum(1 for _ in file)
    return tqdm(total=total, file=sys.stderr, disable=not shown, unit="line", dynamic_ncols=True)


@contextmanager
def _output(path: str | None) -> Iterator[TextIO]:
    """Standard output, or a file that is there only when it is complete."""
    if path is None:
        yield sys.stdout
        return
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            yield file
        os.replace(temporary, target)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _inputs(args: argparse.Namespace) -> Iterator[Sequence[str]]:
    """Groups of lines; standard input is answered line by line."""
    if args.text:
        yield [os.fsencode(text).decode("utf-8", "replace") for text in args.text]
    elif args.file is not None:
        yield from _file_lines(args.file)
    else:
        if sys.stdin.isatty():
            print("Type English, one sentence a line; Ctrl-D ends.", file=sys.stderr)
        yield from _grouped(_decoded(sys.stdin.buffer), 1)


def _file_lines(path: str) -> Iterator[Sequence[str]]:
    try:
        file = open(path, "rb")  # noqa: SIM115
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    with file:
        yield from _grouped(_decoded(file), LINES_AT_ONCE)


def _decoded(raw_lines: Iterable[bytes]) -> Iterator[str]:
    r"""A line ends at \n or \r\n only; bytes that are not UTF-8 become U+FFFD: no line is lost.

    Raises:
        UserError: the text is UTF-16, as some Windows programs save it.
    """
    for number, raw in enumerate(raw_lines, 1):
        if number == 1 and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise UserError("the input is UTF-16; save it as UTF-8")
        yield raw.decode("utf-8-sig", "replace").removesuffix("\n").removesuffix("\r")


def _grouped(lines: Iterable[str], size: int) -> Iterator[Sequence[str]]:
    iterator = iter(lines)
    while group := list(itertools.islice(iterator, size)):
        yield group
