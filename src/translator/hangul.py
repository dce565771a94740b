"""Hangul: whether there is any, and particles, which follow the sound before them."""

import re
from typing import Final

_HANGUL: Final = re.compile("[ㄱ-ㆎ가-힣]")

PARTICLES: Final = {
    "은": ("은", "는"),
    "이": ("이", "가"),
    "을": ("을", "를"),
    "과": ("과", "와"),
    "으로": ("으로", "로"),
    "아": ("아", "야"),
    "이나": ("이나", "나"),
    "이랑": ("이랑", "랑"),
    "이라고": ("이라고", "라고"),
    "이에요": ("이에요", "예요"),
    "이야": ("이야", "야"),
    "이다": ("이다", "다"),
    "이십니까": ("이십니까", "십니까"),
    "이신가요": ("이신가요", "신가요"),
    "이세요": ("이세요", "세요"),
    "이니": ("이니", "니"),
    "이었습니다": ("이었습니다", "였습니다"),
    "이었어요": ("이었어요", "였어요"),
    "이었어": ("이었어", "였어"),
    "이었다": ("이었다", "였다"),
}
"""Placeholder -> (after a consonant, after a vowel). "으로" is also "로" after ㄹ."""

_FUSED: Final = {
    ("저", "이"): "제가",
    ("나", "이"): "내가",
    ("너", "이"): "네가",
    ("누구", "이"): "누가",
}

_FINAL_OF_DIGIT: Final = dict(zip("0123456789", "ㅇㄹ.ㅁ..ㄱㄹㄹ.", strict=True))
"""How the Korean reading of a last digit ends: 영 일 이 삼 사 오 육 칠 팔 구; "." is a vowel."""

_FINALS: Final = (
    ". ㄱ ㄲ ㄳ ㄴ ㄵ ㄶ ㄷ ㄹ ㄺ ㄻ ㄼ ㄽ ㄾ ㄿ ㅀ ㅁ ㅂ ㅄ ㅅ ㅆ ㅇ ㅈ ㅊ ㅋ ㅌ ㅍ ㅎ".split()
)


def has_hangul(text: str) -> bool:
    """Whether there is a syllable, or a letter by itself as in ㅋㅋ."""
    return bool(_HANGUL.search(text))


def final_sound(text: str) -> str:
    """The consonant that a text ends in, "." for a vowel.

    Digits count as they are read in Korean. Latin letters follow a rule of thumb: l, m, n and ng
    end in a consonant, every other letter in a vowel (d, k, s … are read 드, 크, 스).
    """
    core = re.sub(r"[^0-9A-Za-z가-힣ㄱ-ㅎ]+$", "", text)
    if not core:
        return "."
    last = core[-1]
    if "가" <= last <= "힣":
        return _FINALS[_final_number(last)]
    if last.isdigit():
        return _final_of_number(core)
    if "ㄱ" <= last <= "ㅎ":
        return last
    if core.endswith(".net"):
        return "ㅅ"  # 닷넷
    if core.endswith(".kr"):
        return "ㄹ"  # 케이알
    return {"l": "ㄹ", "m": "ㅁ", "n": "ㄴ"}.get(last.lower(), "ㅇ" if core[-2:] == "ng" else ".")


def without_final(text: str) -> str:
    """A text without the consonant that its last syllable ends in: 알 -> 아."""
    return text[:-1] + chr(ord(text[-1]) - _final_number(text[-1]))


def _final_number(syllable: str) -> int:
    """The place of the final consonant among all of them; 0 for none."""
    return (ord(syllable) - ord("가")) % len(_FINALS)


def _final_of_number(text: str) -> str:
    zeros = len(text) - len(text.rstrip("0"))
    if zeros == 0 or not re.search(r"[1-9]0+$", text):
        return _FINAL_OF_DIGIT[text[-1]]
    return "ㅂㄱㄴㄴ"[zeros - 1] if zeros <= 4 else "ㄴ" if zeros < 8 else "ㄱ"  # 십 백 천 만 … 억


def particle(word: str, name: str) -> str:
    """The form of a particle after a word: ("학생", "은") -> "은", ("의사", "은") -> "는"."""
    sound = final_sound(word)
    after_consonant, after_vowel = PARTICLES[name]
    if sound == "." or (name == "으로" and sound == "ㄹ"):
        return after_vowel
    return after_consonant


def attach(word: str, name: str) -> str:
    """A word with its particle: ("저", "이") -> "제가", ("책", "을") -> "책을"."""
    for (pronoun, fused_with), fused in _FUSED.items():
        if name == fused_with and re.search(rf"(^|\s){pronoun}$", word):
            return word[: -len(pronoun)] + fused
    return word + particle(word, name)
