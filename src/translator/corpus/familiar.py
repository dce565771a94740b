"""How one speaks of oneself and answers among friends: 저 -> 나, 제 -> 내, 네 -> 응."""

from collections.abc import Sequence
from typing import Final

from translator.corpus.morphemes import Morpheme

_PRONOUNS: Final = {"저": "나", "저희": "우리"}
_FUSED_PRONOUNS: Final = {"제": "내", "전": "난", "절": "날"}
_ANSWERS: Final = {"네": "응", "예": "응", "아니요": "아니", "아니오": "아니"}


def familiar(head: str, morphemes: Sequence[Morpheme]) -> str | None:
    """What stands before the predicate, among friends; None where a pronoun is not understood."""
    out, position = "", 0
    for i, m in enumerate(morphemes):
        if m.end > len(head):
            break
        if m.tag == "NP" and m.form in _PRONOUNS:
            follows = morphemes[i + 1] if i + 1 < len(morphemes) else None
            written = _as_written(head, m, follows)
            after = head[m.end : m.end + 1]
            if written == "제" and after.isalpha() and after not in {"가", "게"}:
                continue  # 제시간, 제자리: no pronoun
            new = _FUSED_PRONOUNS.get(written) or _PRONOUNS.get(written)
            if new is None:
                return None
        elif m.tag == "IC" and m.form in _ANSWERS:
            new = _ANSWERS[m.form]
        else:
            continue
        out += head[position : m.start] + new
        position = m.end
    return out + head[position:]


def _as_written(head: str, pronoun: Morpheme, follows: Morpheme | None) -> str:
    """A pronoun with the particle that is fused with it: 전 for 저 + ᆫ."""
    text = head[pronoun.start : pronoun.end]
    if text in _FUSED_PRONOUNS:
        return text
    if follows and follows.start < pronoun.end:
        return head[pronoun.start : follows.end]
    return pronoun.form
