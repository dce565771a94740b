"""`translator translate`: one line out for one line in, whatever the line holds."""

import argparse
import codecs
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from translator.checkpoint import PRETRAINED
from translator.errors import UserError
from translator.inference import TooLong, Translator

LINES_AT_ONCE = 1024


def run(args: argparse.Namespace) -> None:
    """Translates the arguments, a file, or standard input; translations to stdout, warnings to
    stderr.
    """
    if args.text and args.file is not None:
        raise UserError(f"both sentences and --file {args.file} were given; choose one")
    translator = Translator.from_pretrained(PRETRAINED if args.model is None else args.model)
    number = 1
    for texts in _inputs(args):
        try:
            found = translator.translate(texts, args.style, use_cache=not args.no_cache)
        except TooLong as error:
            raise UserError(f"line {number + error.index}: {error}") from None
        for translation in found:
            for warning in translation.warnings:
                print(f"translator: line {number}: {warning}", file=sys.stderr)
            print(translation.text)
            number += 1
        sys.stdout.flush()


def _inputs(args: argparse.Namespace) -> Iterator[Sequence[str]]:
    """Groups of lines; standard input is answered line by line."""
    if args.text:
        yield [os.fsencode(text).decode("utf-8", "replace") for text in args.text]
    elif args.file is not None:
        try:
            with open(Path(args.file), "rb") as file:
                yield from _grouped(_decoded(file), LINES_AT_ONCE)
        except OSError as error:
            raise UserError(f"{args.file}: cannot be read: {error.strerror}") from None
    else:
        if sys.stdin.isatty():
            print("Type English, one sentence a line; Ctrl-D ends.", file=sys.stderr)
        yield from _grouped(_decoded(sys.stdin.buffer), 1)


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
