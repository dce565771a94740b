"""Prepares the next values while the current one is used."""

import queue
import threading
from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


class _Made(NamedTuple, Generic[Item]):
    """The next value, what went wrong instead, or neither at the end."""

    items: tuple[Item, ...] = ()
    error: BaseException | None = None


def prefetched(items: Iterator[Item], depth: int = 2) -> Iterator[Item]:
    """The same values in the same order, up to `depth` of them made ahead by a thread.

    What goes wrong in the thread is raised here. Leaving early ends the thread.
    """
    ready: queue.Queue[_Made[Item]] = queue.Queue(depth)
    left = threading.Event()

    def put(made: _Made[Item]) -> None:
        while not left.is_set():
            try:
                ready.put(made, timeout=0.1)
                return
            except queue.Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put(_Made((item,)))
                if left.is_set():
                    return
            put(_Made())
        except BaseException as error:  # whatever it is, it is raised where the values are used
            put(_Made(error=error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            made = ready.get()
            if made.error is not None:
                raise made.error
            if not made.items:
                return
            yield from made.items
    finally:
        left.set()
        thread.join()
