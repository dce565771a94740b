"""Prepares the next values while the current one is used."""

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

Item = TypeVar("Item")


def prefetched(items: Iterator[Item], depth: int = 2) -> Iterator[Item]:
    """The same values in the same order, up to `depth` of them made ahead by a thread.

    What goes wrong in the thread is raised here. Leaving early ends the thread.
    """
    ready: queue.Queue[tuple[Item | None, BaseException | None, bool]] = queue.Queue(depth)
    left = threading.Event()

    def put(entry: tuple[Item | None, BaseException | None, bool]) -> None:
        while not left.is_set():
            try:
                ready.put(entry, timeout=0.1)
                return
            except queue.Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put((item, None, False))
                if left.is_set():
                    return
            put((None, None, True))
        except BaseException as error:  # whatever it is, it is raised where the values are used
            put((None, error, True))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            item, error, ended = ready.get()
            if error is not None:
                raise error
            if ended:
                return
            yield item  # type: ignore[misc]
    finally:
        left.set()
        thread.join()
