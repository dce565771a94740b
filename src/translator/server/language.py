"""Which of the two languages a text is in, by its letters."""

from typing import NamedTuple

from translator.romanization import has_hangul


class Detected(NamedTuple):
    """A language code and how sure that is, 0 to 100."""

    language: str
    confidence: float


def may_be_english(text: str) -> bool:
    """Whether most of it is in Latin letters, or there are no letters at all."""
    found = detect(text)
    return found.language == "en" and (found.confidence > 0 or not any(map(str.isalpha, text)))


def detect(text: str) -> Detected:
    """English or Korean: the language of most letters, and their share of all letters. No letter of
    either is English with confidence 0.
    """
    letters = [c for c in text if c.isalpha()]
    korean = sum(has_hangul(c) for c in letters)
    latin = sum(c.isascii() for c in letters)
    language, count = ("ko", korean) if korean > latin else ("en", latin)
    return Detected(language, round(100 * count / len(letters), 1) if letters else 0.0)
