"""The line of jobs: together, in order, bounded, and alive after a failure."""

import asyncio
import threading
from collections import deque

import pytest

from translator.documents import TranslatedLine
from translator.server.batching import Batcher, Busy, Manner

FORMAL, POLITE = Manner("formal", 1), Manner("polite", 1)


def line(text):
    return TranslatedLine(source=text, text=text.upper(), sources=(), parts=(), warnings=())


class Slow:
    """Translates when the gate is open, and remembers what came together."""

    def __init__(self):
        self.gate, self.began, self.batches = threading.Event(), threading.Event(), []

    def __call__(self, lines, manner):
        self.batches.append((list(lines), manner))
        self.began.set()
        assert self.gate.wait(10)
        if "bad" in lines:
            raise ZeroDivisionError
        return [line(text) for text in lines]


def with_batcher(test, slow, **bounds):
    async def run():
        batcher = Batcher(
            slow, **{"most_waiting": 10, "most_together": 4, "most_characters": 999} | bounds
        )
        try:
            await test(batcher)
        finally:
            slow.gate.set()
            batcher.close()

    asyncio.run(run())


async def queued(batcher, slow, jobs):
    """The first job is being worked on, the others wait in order."""
    tasks = []
    for lines, manner in jobs:
        tasks.append(asyncio.create_task(batcher.translate(lines, manner)))
        await asyncio.sleep(0)
        if len(tasks) == 1:
            await asyncio.to_thread(slow.began.wait, 10)
    return tasks


def test_what_waits_goes_together_if_it_can():
    slow = Slow()

    async def test(batcher):
        tasks = await queued(
            batcher,
            slow,
            [
                (["a"], FORMAL),
                (["b", "c"], FORMAL),
                (["d"], POLITE),
                (["e"], FORMAL),
                (["f"] * 3, FORMAL),
            ],
        )
        slow.gate.set()
        answers = [[found.text for found in await task] for task in tasks]
        assert answers == [["A"], ["B", "C"], ["D"], ["E"], ["F"] * 3]

    with_batcher(test, slow)
    assert slow.batches == [
        (["a"], FORMAL),
        (["b", "c", "e"], FORMAL),
        (["d"], POLITE),
        (["f"] * 3, FORMAL),
    ]


def test_the_line_is_bounded():
    slow = Slow()

    async def test(batcher):
        tasks = await queued(batcher, slow, [(["a"], FORMAL)] * 3)
        with pytest.raises(Busy):
            await batcher.translate(["b"], FORMAL)
        slow.gate.set()
        await asyncio.gather(*tasks)
        assert (await batcher.translate(["b"], FORMAL))[0].text == "B"

    with_batcher(test, slow, most_waiting=2)


def test_a_failure_is_its_own_and_the_thread_lives():
    slow = Slow()
    slow.gate.set()

    async def test(batcher):
        with pytest.raises(ZeroDivisionError):
            await batcher.translate(["bad"], FORMAL)
        assert (await batcher.translate(["a"], FORMAL))[0].text == "A"
        assert await batcher.run(lambda: 5) == 5
        with pytest.raises(KeyError):
            await batcher.run(lambda: {}["x"])
        assert await batcher.run(lambda: threading.current_thread().name) == "translator"

    with_batcher(test, slow)


def test_who_leaves_is_not_worked_for():
    slow = Slow()

    async def test(batcher):
        first, gone, last = await queued(
            batcher, slow, [(["a"], FORMAL), (["gone"], POLITE), (["c"], FORMAL)]
        )
        gone.cancel()
        await asyncio.sleep(0)
        slow.gate.set()
        await asyncio.gather(first, last)
        assert await batcher.run(lambda: 1) == 1

    with_batcher(test, slow)
    assert [lines for lines, _ in slow.batches] == [["a"], ["c"]]


def test_after_stopping_nobody_new_is_taken():
    slow = Slow()
    slow.gate.set()

    async def test(batcher):
        batcher.stop()
        with pytest.raises(Busy):
            await batcher.translate(["a"], FORMAL)

    with_batcher(test, slow)


def test_a_signal_between_two_lines_of_code_leaves_nobody_waiting():
    """The signal's handler runs in the thread that takes the job, in the middle of taking it."""
    slow = Slow()
    slow.gate.set()

    async def test(batcher):
        class Interrupted(deque):
            def append(self, job):
                if job is not None:
                    batcher.stop()
                super().append(job)

        with batcher._changed:
            batcher._jobs = Interrupted()
        with pytest.raises(Busy):
            await asyncio.wait_for(batcher.translate(["a"], FORMAL), 10)

    with_batcher(test, slow)


def test_closing_answers_who_still_waits():
    slow = Slow()

    async def test(batcher):
        first, second = await queued(batcher, slow, [(["a"], FORMAL), (["b"], POLITE)])
        closing = asyncio.create_task(asyncio.to_thread(batcher.close))
        with pytest.raises(Busy):
            await second
        slow.gate.set()
        assert (await first)[0].text == "A"
        await closing

    async def run():
        batcher = Batcher(slow, most_waiting=10, most_together=4, most_characters=999)
        await test(batcher)

    asyncio.run(run())


def test_long_texts_and_many_translations_do_not_go_together():
    """Otherwise whoever comes next waits for all of them, even if their clients have left."""
    slow = Slow()

    async def test(batcher):
        many = Manner("formal", 3)
        jobs = [(["a"], FORMAL), (["b" * 9], many), (["c"], many), (["d"], many)]
        tasks = await queued(batcher, slow, jobs)
        slow.gate.set()
        for task in tasks:
            await task
        assert [lines for lines, _ in slow.batches] == [["a"], ["b" * 9, "c"], ["d"]]

    with_batcher(test, slow, most_characters=30)
