"""Korean speech levels: which there are, and which one a sentence shows.

Korean must choose a level and English does not say which, so every pair carries one and the
translator is asked for one.

    formal  합니다체  저는 학생입니다.
    polite  해요체    저는 학생이에요.
    casual  해체      나는 학생이야.
    plain   한다체    나는 학생이다.      (the written style)
"""

import re
from typing import Final

LEVELS: Final = ("formal", "polite", "casual", "plain", "any")
"""The tags in the order of their token ids; `any` is for a pair that shows no level."""
SPOKEN: Final = LEVELS[:4]
"""The levels proper, from the most to the least formal."""
DEFAULT_STYLE: Final = "formal"
"""What the translator writes in unless it is asked for another level; the chapter's own."""

WITH_BIEUP: Final = "".join(chr(code) for code in range(ord("갑"), ord("힣"), 28))
"""Every syllable that ends in ㅂ, as those before 니다 do."""
_TRAILING_MARKS = re.compile(r"[\s\"'”’)(\].!?…~,:;^ㅋㅎㅠㅜ]+$")
_SHOWN_BY_ENDING = (
    ("formal", re.compile(rf"((?<!아)니다|니까|시오|[{WITH_BIEUP}]시다)$")),
    ("polite", re.compile(r"(요|죠)$")),
    ("plain", re.compile(r"(다|는가|은가|던가|는구나|자|니|냐|[가-힣]라)$")),
    ("casual", re.compile(r"[아어여야해돼지네래게걸데와봐줘커워겨져려서]$")),
)
_SHARED = re.compile(r"(자|니|냐|라)$")
_SHOWS_NOTHING = re.compile(r"(^|\s)(네|예|아니요|여보세요|안녕)$")


def speech_level(korean: str) -> str:
    """The level that the last ending of a Korean sentence shows, or "any" when it shows none.

    A rule of thumb on the surface, not a morphological analysis: reliable for formal and polite. A
    casual verb may end in nearly any syllable (가, 예뻐), so casual is often not recognised; -니,
    -자 and -라, which both casual and plain use, count as plain.
    """
    stem = _TRAILING_MARKS.sub("", korean)
    if _SHOWS_NOTHING.search(stem):
        return "any"
    for level, ending in _SHOWN_BY_ENDING:
        if ending.search(stem):
            return level
    return "any"


def line_level(korean: str) -> str:
    """`speech_level` of a whole line of a corpus. One word without a final mark may be an entry of
    a word list (바다, 영어, 필요), so only 합니다체 counts there.
    """
    level = speech_level(korean)
    return "any" if re.fullmatch("[가-힣]+", korean) and level != "formal" else level


def agrees(korean: str, level: str) -> bool | None:
    """Whether a sentence's ending fits the level that was asked for; None when it shows none.

    -니, -냐, -자 and -라 fit both casual and plain.
    """
    shown = speech_level(korean)
    if "any" in {shown, level}:
        return None
    if level == "casual" and shown == "plain":
        return bool(_SHARED.search(_TRAILING_MARKS.sub("", korean)))
    return shown == level
