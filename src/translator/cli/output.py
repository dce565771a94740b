"""A text file that a command writes where the user says."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from translator.errors import UserError
from translator.files import replacing


@contextmanager
def writing(path: str) -> Iterator[TextIO]:
    """A file in UTF-8 that is there only when it is complete. Of a link the file that it leads to
    is written; a device or a pipe, which cannot be replaced, is written to directly.

    Raises:
        UserError: it cannot be written. What goes wrong in the caller's own work passes unchanged.
    """
    target = Path(path)
    if target.is_dir():
        raise UserError(f"{path}: is a directory; name a file")
    if not target.resolve().parent.is_dir():
        raise UserError(f"{path}: cannot be written: there is no such directory")
    at_work = False  # whether it is the caller's turn
    try:
        with replacing(target) as raw:
            file = _Named(raw, path)
            at_work = True
            yield file
            at_work = False
            file.detach()
    except OSError as error:
        if at_work and not file.failed:
            raise
        raise _cannot_be_written(path, error) from None


class _Named(io.TextIOWrapper):
    """Text for a binary file; an error while writing names the file."""

    def __init__(self, raw: BinaryIO, path: str) -> None:
        super().__init__(raw, encoding="utf-8", newline="\n")
        self._path = path
        self.failed = False

    def write(self, text: str, /) -> int:
        """Raises UserError."""
        try:
            return super().write(text)
        except OSError as error:
            self.failed = True
            raise _cannot_be_written(self._path, error) from None

    def flush(self) -> None:
        """Raises UserError."""
        try:
            super().flush()
        except OSError as error:
            self.failed = True
            raise _cannot_be_written(self._path, error) from None


def _cannot_be_written(path: str, error: OSError) -> UserError:
    return UserError(f"{path}: cannot be written: {error.strerror}")
