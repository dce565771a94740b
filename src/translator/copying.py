"""What a translation has to carry over unchanged: addresses and numbers."""

import re
from collections import Counter
from typing import Final

ADDRESS: Final = (
    r"(?i:https?://|www\.)[^\s<>\"'가-힣]*[\w/]"  # of the web, without mark or particle behind
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # of mail
    r"|(?<![\w.@-])\w[\w-]*(?:\.[\w-]+)*\.(?:com|net|org|kr|io)\b"  # a host by its name
    r"(?:/[^\s<>\"'가-힣]*[\w/])?"
)
"""A pattern for re.ASCII."""
_ITEM: Final = re.compile(ADDRESS + r"|\d+(?:[.,:/-]\d+)*", re.ASCII)  # or numbers, times, dates
_CLOCK: Final = re.compile(r"(\d{1,2})시(?:\s*(?:(\d{1,2})분|(반)))?")


def items(text: str) -> list[str]:
    """Web and mail addresses, and numbers of two digits or more, in order.

    A single digit is left out, for Korean rightly writes many of them as words.

    >>> items("Call 010-1234-5678 at 19:30 or see https://example.org/a?b=1, 2 of us, €1,000.")
    ['010-1234-5678', '19:30', 'https://example.org/a?b=1', '1,000']
    """
    found = _ITEM.findall(text)
    return [item for item in found if len(re.sub(r"\D", "", item)) > 1 or _address(item)]


def lost(source: str, translation: str) -> list[str]:
    """The items of the source that its translation lacks, each as often as it lacks it. Commas
    between thousands do not count, and a time may be written in words.

    >>> lost("The train leaves at 7:40.", "기차는 7시 40분에 떠납니다.")
    []
    """
    written = map(_plain, items(translation))
    in_words = map(_plain, items(_CLOCK.sub(_digital, translation)))
    left = Counter(written) | Counter(in_words)
    missing = []
    for item in items(source):
        if left[_plain(item)]:
            left[_plain(item)] -= 1
        else:
            missing.append(item)
    return missing


def _digital(clock: re.Match[str]) -> str:
    """7시 -> 7:00, 7시 40분 -> 7:40, 7시 반 -> 7:30"""
    minutes = 30 if clock[3] else int(clock[2] or 0)
    return f"{int(clock[1])}:{minutes:02} "


def _address(item: str) -> bool:
    return bool(re.search(r"[@A-Za-z]", item))


def _plain(item: str) -> str:
    """A number without commas between thousands, a time without a zero in front."""
    if _address(item):
        return item
    return re.sub(r"^0(?=\d:)", "", re.sub(r",(?=\d{3}(?:\D|$))", "", item))
