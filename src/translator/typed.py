"""English as people type it, brought to how the corpus writes it, in training and in use alike."""

import re
from typing import Final

_STRAIGHT: Final = str.maketrans({"‘": "'", "’": "'", "‛": "'", "“": '"', "”": '"', "„": '"'})
_WORD: Final = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ]+(?:'[A-Za-zÀ-ÖØ-öø-ÿ]+)*")
_FIRST_LETTER: Final = re.compile(r"(?:^|[.?!]\s)[^\w<]*[a-z]")
_KEEP_CAPITALS: Final = {
    *("I", "I'M", "I'VE", "I'LL", "I'D"),
    *("TV", "PC", "OK", "ID", "DVD", "KTX", "ATM", "USA", "UK", "USB"),
}


def tidy(text: str) -> str:
    """Straight quotes; and what is typed wholly in capitals in sentence case, for a vocabulary
    learned from sentences spells capitals letter by letter. Abbreviations alone stay.

    >>> tidy("I’M LATE.")
    "I'm late."
    """
    text = text.translate(_STRAIGHT)
    words = _WORD.findall(text)
    lengths = [len(word) for word in words if len(word) > 1]
    shouted = len(lengths) > 1 or max(lengths, default=0) > 3
    return _sentence_case(text) if shouted and text == text.upper() else text


def _sentence_case(text: str) -> str:
    text = _WORD.sub(lambda match: _lower(match[0]), text)
    return _FIRST_LETTER.sub(lambda match: match[0].upper(), text)


def _lower(word: str) -> str:
    if word not in _KEEP_CAPITALS:
        return word.lower()
    return "I" + word[1:].lower() if word.startswith("I'") else word
