"""Morphemes written together as Koreans write them."""

from collections.abc import Sequence
from typing import Any, Final

from translator.corpus.kiwi import with_ni
from translator.corpus.morphemes import Morpheme
from translator.hangul import final_sound

_CONTRACTIONS: Final = (("못하아", "못해"), ("못하았", "못했"), ("뼜", "삐었"), ("아어", "알아"))
"""Where kiwipiepy joins otherwise than people write."""


def joined(kiwi: Any, head: str, predicate: Sequence[Morpheme]) -> str:
    """What stands before a predicate, and the predicate; a copula follows the sound before it."""
    index = next((i for i, m in enumerate(predicate) if m.tag == "VCP"), None)
    if index is None:
        return head + _written(kiwi, predicate)
    noun = head + (_written(kiwi, predicate[:index]) if index else "")
    copula = _written(kiwi, predicate[index:])
    if noun.endswith("것") and predicate[-1].form in {"에요", "야"}:
        noun = noun[:-1] + "거"
    return _attach_copula(noun, copula)


def _written(kiwi: Any, morphemes: Sequence[Morpheme]) -> str:
    *stem, last = [(m.form, m.tag) for m in morphemes]
    if last == ("니", "EF"):
        return with_ni(kiwi, stem)
    written = str(kiwi.join([*stem, last]))
    for wrong, right in _CONTRACTIONS:
        written = written.replace(wrong, right)
    return written


def _attach_copula(noun: str, copula: str) -> str:
    """책 + 이에요, but 의사 + 예요; 책 + 이었어요, but 의사 + 였어요."""
    if final_sound(noun) != ".":
        return noun + copula
    if copula.startswith("이에요"):
        return noun + "예요"
    if copula.startswith("이었"):
        return noun + "였" + copula[2:]
    return noun + copula.removeprefix("이")
