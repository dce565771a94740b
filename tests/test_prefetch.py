import threading
import time

import pytest

from translator.prefetch import prefetched


def test_the_same_values_in_the_same_order():
    assert list(prefetched(iter(range(100)))) == list(range(100))
    assert list(prefetched(iter([]))) == []
    assert list(prefetched(iter([None, None]))) == [None, None]


def test_an_error_arrives_where_the_values_are_used():
    def items():
        yield 1
        raise ValueError("broken")

    found = prefetched(items())
    assert next(found) == 1
    with pytest.raises(ValueError, match="broken"):
        next(found)


def test_leaving_early_ends_the_thread():
    made = []

    def items():
        for i in range(1000):
            made.append(i)
            yield i

    before = threading.active_count()
    found = prefetched(items(), depth=2)
    assert next(found) == 0
    found.close()
    assert threading.active_count() == before
    assert len(made) < 10, "no more is made than is asked for"


def test_values_are_made_ahead():
    made = threading.Event()

    def items():
        yield 1
        made.set()
        yield 2

    found = prefetched(items())
    next(found)
    assert made.wait(timeout=10), "the second is made while the first is in use"
    found.close()


def test_a_slow_user_is_waited_for():
    found = []
    for item in prefetched(iter(range(5)), depth=1):
        time.sleep(0.02)
        found.append(item)
    assert found == list(range(5))
