"""Requests that arrive at the same time are translated together; one thread owns the model."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from translator.documents import TranslatedLine

Result = TypeVar("Result")


class Manner(NamedTuple):
    """How to translate; jobs that agree can go together."""

    style: str
    n_best: int


TranslateLines = Callable[[Sequence[str], Manner], list[TranslatedLine]]


class Busy(Exception):
    """The queue is full, or the server stops."""


@dataclass(frozen=True)
class _Job:
    """Lines to translate or, without a manner, something else to do with the model."""

    lines: Sequence[str]
    manner: Manner | None
    work: Callable[[], Any] | None
    loop: asyncio.AbstractEventLoop
    answer: "asyncio.Future[Any]"

    @property
    def size(self) -> int:
        """Characters times the translations wanted of each."""
        wanted = 1 if self.manner is None else self.manner.n_best
        return wanted * sum(map(len, self.lines))

    def done(self, result: Any) -> None:
        self._tell(lambda: self.answer.set_result(result))

    def failed(self, error: BaseException) -> None:
        self._tell(lambda: self.answer.set_exception(error))

    def _tell(self, settle: Callable[[], None]) -> None:
        def unless_gone() -> None:
            if not self.answer.done():  # the client may have left
                settle()

        self.loop.call_soon_threadsafe(unless_gone)


_STOP: Final = None
GATHERING: Final = 0.01
"""Seconds to wait for more jobs, only right after a batch of several."""


class Batcher:
    """A queue of jobs and the thread that works through it. While one batch is translated the next
    one gathers; a lone request does not wait for others.

    Args:
        translate_lines: lines and manner -> one result a line; called in the thread only
        most_waiting: jobs in the queue
        most_together: lines in one batch; a single job may have more
        most_characters: in one batch, times the translations wanted; a single job may have more
    """

    def __init__(
        self,
        translate_lines: TranslateLines,
        *,
        most_waiting: int,
        most_together: int,
        most_characters: int,
    ) -> None:
        self._translate_lines = translate_lines
        self._most_waiting = most_waiting
        self._most_together = most_together
        self._most_characters = most_characters
        self._jobs: deque[_Job | None] = deque()
        self._changed = threading.Condition()
        self._stopped = False
        self._answered = 0  # how many jobs the last batch had
        self._thread = threading.Thread(target=self._work, name="translator", daemon=True)
        self._thread.start()

    async def translate(self, lines: Sequence[str], manner: Manner) -> list[TranslatedLine]:
        """One result a line, the same as if it were translated alone.

        Raises:
            Busy: the queue is full, or the server stops; and whatever `translate_lines` raises.
        """
        found: list[TranslatedLine] = await self._submit(lines, manner, None)
        return found

    async def run(self, work: Callable[[], Result]) -> Result:
        """Something else that needs the model, in its turn.

        Raises:
            Busy: the queue is full, or the server stops; and whatever `work` raises.
        """
        found: Result = await self._submit((), None, work)
        return found

    def stop(self) -> None:
        """Takes no new jobs, tells those waiting that it is busy, finishes those at hand."""
        with self._changed:
            self._refuse_waiting()
            self._jobs.append(_STOP)
            self._stopped = True
            self._changed.notify()

    def close(self) -> None:
        """Stops, and waits for the jobs at hand."""
        self.stop()
        self._thread.join()

    def _refuse_waiting(self) -> None:
        while self._jobs:
            job = self._jobs.popleft()
            if job is not None:
                job.failed(Busy())

    async def _submit(
        self, lines: Sequence[str], manner: Manner | None, work: Callable[[], Any] | None
    ) -> Any:
        loop = asyncio.get_running_loop()
        job = _Job(lines, manner, work, loop, loop.create_future())
        with self._changed:
            if self._stopped or len(self._jobs) >= self._most_waiting:
                raise Busy
            self._jobs.append(job)
            self._changed.notify()
        return await job.answer

    def _work(self) -> None:
        while jobs := self._next():
            try:
                self._answer(jobs)
            except Exception as error:  # the thread outlives whatever a job does
                for job in jobs:
                    job.failed(error)

    def _next(self) -> list[_Job]:
        """The first job, and all others that can go with it; none when it is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs)
            if self._answered > 1 and self._jobs[0] is not _STOP:  # their clients come again
                self._changed.wait_for(lambda: len(self._jobs) >= self._answered, GATHERING)
            first = self._jobs.popleft()
            if first is _STOP:
                # a signal may have called `stop` in the middle of a `_submit` of the same thread
                self._refuse_waiting()
                return []
            chosen, size, work = [first], len(first.lines), first.size
            others = [job for job in self._jobs if _goes_with(job, first)]
            for job in others:
                assert job is not None
                size += len(job.lines)
                work += job.size
                if size > self._most_together or work > self._most_characters:
                    break
                chosen.append(job)
                self._jobs.remove(job)
            self._answered = len(chosen)
            return chosen

    def _answer(self, jobs: Sequence[_Job]) -> None:
        waiting = [job for job in jobs if not job.answer.cancelled()]
        if not waiting:
            return
        first = waiting[0]
        if first.work is not None:
            first.done(first.work())
            return
        assert first.manner is not None
        lines = [line for job in waiting for line in job.lines]
        results = iter(self._translate_lines(lines, first.manner))
        for job in waiting:
            job.done([next(results) for _ in job.lines])


def _goes_with(job: _Job | None, first: _Job) -> bool:
    return job is not None and job.manner is not None and job.manner == first.manner
