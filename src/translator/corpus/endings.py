"""The last ending of a Korean sentence moved to another speech level.

Each function gives the new predicate, or None where that is not certain.
"""

from collections.abc import Callable, Mapping
from typing import Final

from translator.corpus.morphemes import RESPECT, Morpheme, Sentence

_STATEMENTS: Final = frozenset({"ᆸ니다", "습니다"})
_QUESTIONS: Final = frozenset({"ᆸ니까", "습니까"})
_SUGGESTIONS: Final = frozenset({"ᆸ시다", "읍시다"})
_POLITE_QUESTIONS: Final = frozenset({"나요", "ᆫ가요", "은가요", "ᆫ가", "은가", "나"})
_CASUAL: Final[Mapping[str, str]] = {
    "어요": "어",
    "에요": "야",
    "예요": "야",
    "네요": "네",
    "거든요": "거든",
    "ᆯ게요": "ᆯ게",
    "을게요": "을게",
    "ᆯ래요": "ᆯ래",
    "을래요": "을래",
    "ᆯ까요": "ᆯ까",
    "을까요": "을까",
    "죠": "지",
    "지요": "지",
    "잖아요": "잖아",
    "는데요": "는데",
    "은데요": "은데",
    "ᆫ데요": "ᆫ데",
    "더라고요": "더라고",
    "군요": "군",
    "는군요": "는군",
    "나요": "어",
    "ᆫ가요": "어",
    "은가요": "어",
}


def to_plain(sentence: Sentence) -> list[Morpheme] | None:
    """From formal to plain: -습니다 -> -다 or -는다, -습니까 -> -니, -읍시다 -> -자."""
    ending, question, keep_respect = sentence.ending, sentence.question, sentence.keeps_respect
    before = {m.form for m in sentence.before_ending}
    if sentence.verb_or_adjective or (question and "겠" in before):
        return None
    if ending in _QUESTIONS:
        return sentence.with_ending("니", keep_respect)
    if ending in _SUGGESTIONS:
        return sentence.with_ending("자", keep_respect)
    if ending == "ᆸ시오":
        return sentence.with_ending("어라", keep_respect=False)
    if ending in _STATEMENTS and not question:
        plain = "다" if before & {"었", "겠"} or sentence.is_adjective else "는다"
        return sentence.with_ending(plain, keep_respect)
    return None


def to_polite(sentence: Sentence) -> list[Morpheme] | None:
    """From formal to polite: -습니다 -> -어요, -십니까 -> -으세요, -ㅂ시오 -> -으세요."""
    ending, before = sentence.ending, sentence.before_ending
    if ending == "ᆸ시오":
        return sentence.with_ending("으세요", keep_respect=False)
    if ending in _SUGGESTIONS:
        return sentence.with_ending("어요", keep_respect=True)
    if ending not in (_QUESTIONS if sentence.question else _STATEMENTS):
        return None
    if before and before[-1].form in RESPECT:
        return sentence.with_ending("으세요", keep_respect=False)
    return sentence.with_ending("에요" if sentence.is_copula else "어요", keep_respect=True)


def to_casual(sentence: Sentence) -> list[Morpheme] | None:
    """From polite to casual: -어요 -> -어, -이에요 -> -이야, -으세요 -> -어."""
    ending, keep_respect = sentence.ending, sentence.keeps_respect
    if ending in {"세요", "으세요"}:
        if not sentence.question and sentence.elder_in_morphemes:
            return None  # said of an elder, or asked of one?
        if keep_respect:
            *stem, last = sentence.with_ending("어", keep_respect=True)
            return [*stem, Morpheme("으시", "EP", 0, 0), last]
        return sentence.with_ending("야" if sentence.is_copula else "어", keep_respect=False)
    if ending in _POLITE_QUESTIONS and sentence.question:
        return sentence.with_ending("야" if sentence.is_copula else "어", keep_respect)
    if ending in _CASUAL:
        return sentence.with_ending(_CASUAL[ending], keep_respect)
    after = sentence.morphemes[sentence.final + 1 :]
    if after and after[0].form == "요" and f"{ending}요" in _CASUAL:
        return sentence.with_ending(_CASUAL[f"{ending}요"], keep_respect)
    return None


ENDING_AT: Final[Mapping[str, Callable[[Sentence], list[Morpheme] | None]]] = {
    "plain": to_plain,
    "polite": to_polite,
    "casual": to_casual,
}
"""Level -> how a sentence gets its ending there."""
