"""English as people type it, brought to how the corpus writes it, in training and in use alike."""

import re
from typing import Final

from translator.hangul import has_hangul

_STRAIGHT: Final = str.maketrans("‘’‛‚´＇“”„‟", "''''''" + '""""')
_LETTERS: Final = "A-Za-zÀ-ÖØ-öø-ÿ"
_WORD: Final = re.compile(rf"[{_LETTERS}]+(?:['-][{_LETTERS}]+)*")
_TOKEN: Final = re.compile(r"([^\w<]*)(\S*?)(\W*)(?!\S)")  # marks, what they stand around, marks
_BEGINS: Final = re.compile(rf"(?:^|(?<!\.[A-Z])[.?!…][\"')\]]*\s|,\s(?=\"))[^\w<]*[{_LETTERS}]")

_KEPT: Final = frozenset(
    "I II TV PC OK ID DVD CD KTX ATM USA UK UN EU USB CEO GPS PIN SIM UFO VIP DNA PDF QR".split()
)
_CAPITALISED: Final = {
    word.upper(): word
    for word in (
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February April June July "
        "August September October November December Christmas Korea Korean Seoul English America "
        "American Japan Japanese China Chinese"
    ).split()
}
_SHORT_SHOUTS: Final = frozenset(
    "YES NO HI BYE WHY WHO HOW WOW HEY OH GO RUN SIT NOW YOU ME OUT STOP".split()
)


def tidy(text: str) -> str:
    """Straight quotes; and what is typed wholly in capitals in sentence case, for a vocabulary
    learned from sentences spells capitals letter by letter.

    Common abbreviations keep their capitals, a few names their first one; other names become small.
    What holds a digit, a full stop or an address stays as it is, and so does a text with Hangul.

    >>> tidy("I’M LATE.")
    "I'm late."
    """
    text = text.translate(_STRAIGHT)
    return _sentence_case(text) if _shouted(text) else text


def _shouted(text: str) -> bool:
    """Whether capitals are how it is typed, and not what it is (TV, KTX, A)."""
    if text != text.upper() or has_hangul(text):
        return False
    words = _WORD.findall(text)
    longest = max(map(len, words), default=0)
    if len(words) == 1:
        return longest > 3 or words[0] in _SHORT_SHOUTS
    return longest > 1


def _sentence_case(text: str) -> str:
    text = _TOKEN.sub(lambda match: match[1] + _lower(match[2]) + match[3], text)
    return _BEGINS.sub(lambda match: match[0].upper(), text)


def _lower(token: str) -> str:
    if not _WORD.fullmatch(token):
        return token
    head, apostrophe, rest = token.partition("'")
    if head not in _KEPT:
        head = _CAPITALISED.get(head, head.lower())
    return head + apostrophe + rest.lower()
