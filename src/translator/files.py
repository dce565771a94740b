"""Files that are whole at every moment: the old content or the new, never a part."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A temporary file in the same folder, which is made where it is missing. What is written to it
    is flushed, synced and takes the place of `path`; after an error `path` is what it was.

    Of a link the file that it leads to is replaced. A device or a pipe, which cannot be, is written
    to directly.

    Raises:
        OSError: the folder cannot be written to, or the disk is full.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        with open(path, "wb") as file:
            yield file
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if path.exists():  # it keeps who may read it
                temporary.chmod(path.stat().st_mode & 0o777)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_leftovers(directory: str | Path, names: str) -> None:
    """Deletes temporary files that a killed process left behind, of targets like `names`, such as
    "*.pt".
    """
    for leftover in Path(directory).glob(f".{names}.*.tmp"):
        leftover.unlink(missing_ok=True)


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Writes lines in UTF-8, each ended by a line feed, on every system.  Raises OSError."""
    with replacing(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)
