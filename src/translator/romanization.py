"""Hangul in Latin letters, syllable by syllable: labels for where no Korean font is at hand."""

from typing import Final

FIRST: Final = ord("가")
LAST: Final = ord("힣")

# Revised Romanization of Korean (2000): initials, vowels, finals in the order of Unicode.
_INITIALS: Final = "g kk n d tt r m b pp s ss - j jj ch k t p h".replace("-", "").split(" ")
_VOWELS: Final = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(" ")
_FINALS: Final = "- k k k n n n t l k m l l l p l m p p t t ng t t k t p t".split(" ")


def romanized(text: str) -> str:
    """Each syllable by itself, without the sound changes between two: 학생 -> haksaeng."""
    return "".join(_syllable(c) if FIRST <= ord(c) <= LAST else c for c in text)


def _syllable(syllable: str) -> str:
    """Unicode counts syllables as (initial · 21 + vowel) · 28 + final."""
    rest, final = divmod(ord(syllable) - FIRST, 28)
    initial, vowel = divmod(rest, 21)
    return _INITIALS[initial] + _VOWELS[vowel] + _FINALS[final].strip("-")
