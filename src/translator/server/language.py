"""Which of the two languages a text is in, by its letters."""

import unicodedata

from translator.hangul import has_hangul
from translator.server.messages import Detection


def may_be_english(text: str) -> bool:
    """Whether at least half of its letters are Latin and no more are Korean; a text without any
    letter may be English too.
    """
    found = detect(text)
    return found.language == "en" and (found.confidence >= 50 or not any(map(str.isalpha, text)))


def detect(text: str) -> Detection:
    """English or Korean, whichever has more letters, and their share of all letters in percent. A
    text with no letter of either is English with confidence 0.
    """
    letters = [c for c in unicodedata.normalize("NFC", text) if c.isalpha()]
    korean = sum(has_hangul(c) for c in letters)
    latin = sum(c.isascii() for c in letters)
    language, count = ("ko", korean) if korean > latin else ("en", latin)
    share = round(100 * count / len(letters), 1) if letters else 0.0
    return Detection(language=language, confidence=share)
