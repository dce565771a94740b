"""Lines of English that a user gives, from a file or from standard input."""

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from translator.errors import UserError
from translator.textfile import without_end, without_mark


def file_lines(path: str | Path) -> Iterator[str]:
    """The lines of a file, as `decoded` gives them.  Raises UserError: it cannot be read."""
    with _opened(path) as file:
        yield from decoded(file, str(path))


def count_lines(path: str | Path) -> int | None:
    """How many there are; None where nobody can know before reading them, as in a pipe.

    Raises:
        UserError: the file cannot be read.
    """
    if not Path(path).is_file():  # what is missing is told by the one who reads it
        return None
    with _opened(path) as file:
        return sum(1 for _ in file)


def decoded(raw_lines: Iterable[bytes], name: str) -> Iterator[str]:
    """The lines without their ends. Bytes that are not UTF-8 become U+FFFD, which is told once: no
    line is lost.

    Raises:
        DataError: the text is UTF-16.
    """
    told = False
    for number, line in enumerate(without_mark(raw_lines, name), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            text = line.decode(errors="replace")
            if not told:
                print(
                    f"translator: {name}: line {number}: bytes that are not UTF-8 are replaced; if "
                    "the text is cp949, convert it: iconv -f cp949 -t utf-8",
                    file=sys.stderr,
                )
            told = True
        yield without_end(text)


def grouped(lines: Iterable[str], size: int) -> Iterator[Sequence[str]]:
    """The lines in groups of `size`; the last one may be smaller."""
    iterator = iter(lines)
    while group := list(itertools.islice(iterator, size)):
        yield group


def _opened(path: str | Path) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
