"""Lines of text files: where they end, and how they are spelled in bytes."""

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path

from translator.errors import UserError


class DataError(UserError, ValueError):
    """A corpus is missing, unreadable, uneven or empty."""


def without_mark(lines: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The lines without a byte-order mark at the beginning.

    Raises:
        DataError: the text is UTF-16, as some Windows programs save it, or a packed file.
    """
    for number, line in enumerate(lines):
        if number == 0 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(f"{name}: the text is UTF-16; save it as UTF-8")
        if number == 0 and line.startswith((b"\x1f\x8b", b"PK\x03\x04")):
            raise DataError(f"{name}: the file is packed (gzip, ZIP or a spreadsheet); unpack it")
        yield line.removeprefix(codecs.BOM_UTF8) if number == 0 else line


def without_end(line: str) -> str:
    r"""A line ends at \n or \r\n, and nowhere else."""
    return line.removesuffix("\n").removesuffix("\r")


def check_encoding(name: str) -> None:
    """Raises LookupError: there is no such encoding, or lines cannot be told apart in it, as in
    UTF-16 and where a line goes on in the state that the one before it left.
    """
    two_lines = "가\n나\n"
    try:
        lines = two_lines.encode(name).split(b"\n")
        one_by_one = "\n".join(line.decode(name) for line in lines) == two_lines
    except UnicodeEncodeError:  # it has no Hangul, but English can be in it
        one_by_one = "a\n".encode(name) == b"a\n"
    except UnicodeError:
        one_by_one = False
    if not one_by_one:
        raise LookupError(name)


def read_lines(path: str | Path, encoding: str = "utf-8") -> Iterator[str]:
    """The lines of a text file, without their ends and without a byte-order mark.

    Raises:
        DataError: missing, unreadable, or not in this encoding (names the line and the byte).
    """
    number = 0
    try:
        check_encoding(encoding)
        with open(path, "rb") as file:
            for line in without_mark(file, str(path)):
                number += 1
                yield without_end(line.decode(encoding))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file (working directory: {Path.cwd()})") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except LookupError:
        raise DataError(
            f"data.encoding: unknown or unsuitable encoding {encoding!r}; try utf-8 or cp949"
        ) from None
    except UnicodeDecodeError as error:
        other = "cp949" if encoding.lower().replace("-", "") == "utf8" else "utf-8"
        raise DataError(
            f"{path}: line {number}: byte {error.start} of the line is not {encoding}; mend it, "
            f"or if the whole file is {other}, say so (data.encoding={other}, --encoding {other})"
        ) from None
