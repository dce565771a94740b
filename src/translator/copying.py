"""What a translation has to carry over unchanged: addresses and numbers."""

import re
from collections import Counter
from typing import Final

_ITEM: Final = re.compile(
    r"(?:https?://|www\.)[^\s<>\"']+"  # web addresses
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # mail addresses
    r"|\d+(?:[.,:/-]\d+)*",  # numbers, times, dates
    re.ASCII,
)
_CLOSING: Final = ".,;:!?)]"


def items(text: str) -> list[str]:
    """Web and mail addresses, and numbers of two digits or more, in order.

    A single digit is left out, for Korean rightly writes many of them as words. Commas between
    thousands do not count.

    >>> items("Call 010-1234-5678 at 19:30 or see https://example.org/a?b=1, 2 of us, €1,000.")
    ['010-1234-5678', '19:30', 'https://example.org/a?b=1', '1000']
    """
    found = (match.rstrip(_CLOSING) for match in _ITEM.findall(text))
    return [_plain(item) for item in found if len(re.sub(r"\D", "", item)) > 1 or _address(item)]


def lost(source: str, translation: str) -> list[str]:
    """The items of the source that its translation lacks, each as often as it lacks it."""
    return list((Counter(items(source)) - Counter(items(translation))).elements())


def _address(item: str) -> bool:
    return "@" in item or item.startswith(("http", "www."))


def _plain(item: str) -> str:
    """A number without commas between thousands."""
    return item if _address(item) else re.sub(r",(?=\d{3}(?:\D|$))", "", item)
