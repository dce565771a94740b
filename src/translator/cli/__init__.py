"""The command line: arguments in, exit status out. This package is the only part that prints.

A command's module is imported when the command runs, so that `--help` does not wait for PyTorch.
"""

import importlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import TextIO

from translator.cli.arguments import parse
from translator.errors import UserError
from translator.terminal import printable

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141
OUT_OF_MEMORY = "out of memory; lower decoding.batch_size (in training train.max_tokens)"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Returns:
        The exit status: 0 done, 2 something that the user can mend (one line on stderr), 130
        Ctrl-C, 141 nobody reads the output any more. A training that was stopped is saved and gives
        130 or, after SIGTERM, 143.
    """
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        _write_utf8(stream)
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")  # which we do not use
    try:
        args = parse(argv)
        command = importlib.import_module(f"translator.cli.{args.command}")
        status = command.run(args)
        sys.stdout.flush()
    except UserError as error:
        print(f"translator: {printable(str(error))}", file=sys.stderr)
        return EXIT_USER_ERROR
    except KeyboardInterrupt:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a further one ends Python without a word
        print("translator: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough, as in `… | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except OSError as error:  # a full disk, a folder that may not be read
        where = f"{error.filename}: " if error.filename else ""
        text = printable(f"{where}{error.strerror or error}")
        print(f"translator: {text}", file=sys.stderr)
        return EXIT_USER_ERROR
    except (MemoryError, RuntimeError) as error:
        if not _out_of_memory(error):
            raise
        print(f"translator: {OUT_OF_MEMORY}", file=sys.stderr)
        return EXIT_USER_ERROR
    return status or 0


def _out_of_memory(error: Exception) -> bool:
    """PyTorch has an exception of its own for a GPU, and none for a CPU."""
    signs = ("out of memory", "can't allocate memory")
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in signs)


def _open_closed_streams() -> None:
    """A stream that the caller closed (`>&-`) swallows what is written and has nothing to read."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _write_utf8(stream: TextIO) -> None:
    """Hangul must come out whatever the locale says."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:  # a test may have put something simpler in its place
        reconfigure(encoding="utf-8", errors="replace")
