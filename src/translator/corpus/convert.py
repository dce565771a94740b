"""Korean sentences moved to another speech level, by kiwipiepy's morphemes.

    formal -> polite, plain      polite -> casual

Only what can be converted with certainty is converted; for everything else the answer is None. A
respectful -시- is kept for elders who are spoken about and dropped for the person spoken to; where
that cannot be told apart, nothing is converted.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from translator.corpus.hangul import final_sound
from translator.corpus.kiwi import load_kiwi, with_ni
from translator.levels import speech_level


class Morpheme(NamedTuple):
    """One morpheme of a sentence, with the place that it came from."""

    form: str
    tag: str
    start: int
    end: int


_ELDER: Final = re.compile(
    "께서|할머니|할아버지|어머니|아버지|부모님|선생님|교수님|사장님|부장님|박사님|고모|이모|삼촌"
)
_HONORIFIC_WORDS: Final = frozenset(
    "드시 드세 주무시 계시 잡수시 편찮으시 돌아가시 모시 뵙 여쭙 여쭈 드리 말씀 성함 연세 댁 진지 "
    "생신 당신 귀하 여러분 손님 고객님 저기요 죄송 분 그쪽 만족".split()
)
"""Words that the person spoken to makes necessary, or that kiwipiepy reads in two ways."""
_FIXED: Final[Mapping[str, Mapping[str, str]]] = {
    "polite": {"안녕하십니까": "안녕하세요", "감사합니다": "감사합니다", "죄송합니다": "죄송해요"},
    "casual": {
        "안녕하세요": "안녕",
        "안녕히 가세요": "잘 가",
        "안녕히 계세요": "잘 있어",
        "감사합니다": "고마워",
        "감사해요": "고마워",
        "죄송합니다": "미안해",
        "죄송해요": "미안해",
        "미안합니다": "미안해",
        "괜찮습니다": "괜찮아",
    },
    "plain": {"안녕하십니까": "안녕", "감사합니다": "고맙다", "죄송합니다": "미안하다"},
}
_LEFT_POLITE: Final = re.compile(r"(^|\s)(제|저|저희)\s|^전\s|씨[,!]")
"""What shows that a word was not recognised, or that someone is addressed respectfully."""
_PRONOUNS: Final = {"저": "나", "저희": "우리"}
_FUSED_PRONOUNS: Final = {"제": "내", "전": "난", "절": "날"}
_ANSWERS: Final = {"네": "응", "예": "응", "아니요": "아니", "아니오": "아니"}
_CASUAL_ENDINGS: Final = {
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


class Converter:
    """Holds the morphological analyser, which takes a second to load. Needs kiwipiepy.

    Raises:
        UserError: kiwipiepy is not installed.
    """

    def __init__(self) -> None:
        self._kiwi = load_kiwi()

    def convert(self, korean: str, target: str, suggestion: bool = False) -> str | None:
        """The sentence at another level, or None where that is not certain.

        Args:
            korean: formal for the targets "polite" and "plain", polite for the target "casual"
            suggestion: the English says "let's", which polite Korean does not show
        """
        sentences = re.findall(r"[^.!?]+[.!?]*", korean)
        if not sentences or re.search(r"[\"“”']", korean):
            return None
        if target == "plain" and re.search(r"낫습니[다까]", korean):
            return None  # 낫다 is better, or heals
        if target == "casual" and re.search(r"(^|\s)(계|주무)세요", korean):
            return None  # kiwipiepy reads 계 + 이 + 세요
        converted = [self._sentence(sentence, target, suggestion) for sentence in sentences]
        if any(part is None for part in converted):
            return None
        text = "".join(part for part in converted if part is not None)
        if target != "polite" and _LEFT_POLITE.search(text):
            return None
        expected = {"polite"} if target == "polite" else {"casual", "plain", "any"}
        return text if speech_level(text) in expected else None

    def _sentence(self, sentence: str, target: str, suggestion: bool) -> str | None:
        core = sentence.strip(" .!?")
        if core in _FIXED[target]:
            return sentence.replace(core, _FIXED[target][core])
        morphemes = self._analyse(sentence)
        final = _final_ending(morphemes)
        if final is None or not _convertible(sentence, morphemes, final):
            return None
        question, imperative = "?" in sentence, morphemes[final].form in {"ᆸ시오", "세요"}
        keep_respect = bool(_ELDER.search(sentence)) and not imperative
        changed = _ENDINGS_OF[target](morphemes, final, question, keep_respect)
        if changed is None:
            return None
        if suggestion and target == "casual":
            changed = [*changed[:-1], changed[-1]._replace(form="자")]
        first = changed[0].start
        tail = sentence[morphemes[final].end :]
        head = sentence[:first] if target == "polite" else _familiar(sentence[:first], morphemes)
        if head is None or (target != "polite" and re.search(r"(니다|니까|[요죠])[,·]", head)):
            return None
        return self._joined(head, changed) + tail.removeprefix("요")

    def _joined(self, head: str, changed: Sequence[Morpheme]) -> str:
        """What stands before, and the new predicate."""
        index = next((i for i, m in enumerate(changed) if m.tag == "VCP"), None)
        if index is None:
            return head + self._written(changed)
        noun = head + (self._written(changed[:index]) if index else "")
        copula = self._written(changed[index:])
        if noun.endswith("것") and changed[-1].form in {"에요", "야"}:
            noun = noun[:-1] + "거"
        return _attach_copula(noun, copula)

    def _written(self, morphemes: Sequence[Morpheme]) -> str:
        """Morphemes as they are written together."""
        if morphemes[-1].form == "니" and morphemes[-1].tag == "EF":
            return with_ni(self._kiwi, [(m.form, m.tag) for m in morphemes[:-1]])
        written = str(self._kiwi.join([(m.form, m.tag) for m in morphemes]))
        for wrong, right in _CONTRACTIONS:
            written = written.replace(wrong, right)
        return written

    def _analyse(self, sentence: str) -> list[Morpheme]:
        tokens: Sequence[Any] = self._kiwi.tokenize(sentence)
        return [Morpheme(t.form, t.tag, t.start, t.start + t.len) for t in tokens]


def _final_ending(morphemes: Sequence[Morpheme]) -> int | None:
    """The index of the one sentence-final ending; None when there is none, or more than one."""
    endings = [i for i, m in enumerate(morphemes) if m.tag == "EF"]
    behind = {m.tag for m in morphemes[endings[-1] + 1 :]} if endings else {""}
    return endings[0] if len(endings) == 1 and behind <= {"SF", "JX", "SO"} else None


def _convertible(sentence: str, morphemes: Sequence[Morpheme], final: int) -> bool:
    """No word that another level would replace, and no -시- whose person is unclear."""
    elder = bool(_ELDER.search(sentence))
    if not elder and any(m.form in _HONORIFIC_WORDS for m in morphemes):
        return False
    if any(sentence[m.start : m.end] == "저" and m.tag != "NP" for m in morphemes):
        return False  # "저 사람" or a dropped particle
    respect = [i for i, m in enumerate(morphemes) if m.tag == "EP" and m.form in {"시", "으시"}]
    inner = [i for i in respect if not _belongs_to_end(morphemes, i, final)]
    if inner and not elder:
        return False
    question, imperative = "?" in sentence, morphemes[final].form in {"ᆸ시오", "세요"}
    return not respect or elder or question or imperative


def _belongs_to_end(morphemes: Sequence[Morpheme], index: int, final: int) -> bool:
    return all(m.tag == "EP" for m in morphemes[index:final])


def _predicate(morphemes: Sequence[Morpheme], final: int) -> tuple[list[Morpheme], list[Morpheme]]:
    """The last stem (with what is fused into it), and the endings between it and the final one."""
    stem = final - 1
    while morphemes[stem].tag == "EP":
        stem -= 1
    first = stem
    while first > 0 and morphemes[first - 1].end > morphemes[first].start:
        first -= 1  # written as one syllable with it: 거 + 이 + ᆸ니까
    return list(morphemes[first : stem + 1]), list(morphemes[stem + 1 : final])


def _is_adjective(morphemes: Sequence[Morpheme], stem: Morpheme) -> bool:
    """Whether the plain present is -다 and not -는다; 않다 and 못하다 follow the word before."""
    if stem.tag in {"VCP", "VCN", "XSA"} or stem.tag.startswith("VA"):
        return True
    if stem.form in {"있", "없"}:
        return True
    if stem.tag.startswith("VX"):
        if stem.form == "싶":
            return True
        if stem.form in {"않", "못하"}:
            index = next(i for i, m in enumerate(morphemes) if m == stem)
            before = [m for m in morphemes[:index] if m.tag[:2] in {"VV", "VA", "XS", "VX", "VC"}]
            return bool(before) and _is_adjective(morphemes, before[-1])
    return False


def _verb_or_adjective(morphemes: Sequence[Morpheme], stem: Morpheme) -> bool:
    """Stems that cannot be told apart: 빨리 크다 (grow), 아삭아삭하다, 도- for 돌-."""
    before = next((m for m in reversed(morphemes) if m.end <= stem.start), None)
    adverb = before is not None and before.tag == "MAG"
    return stem.form == "도" or (adverb and (stem.form == "크" or stem.tag == "XSV"))


def _with_ending(
    morphemes: Sequence[Morpheme], final: int, ending: str, keep_respect: bool
) -> list[Morpheme]:
    stem, before = _predicate(morphemes, final)
    kept = [m for m in before if keep_respect or m.form not in {"시", "으시"}]
    end = morphemes[final]
    return [*stem, *kept, Morpheme(ending, "EF", end.start, end.end)]


def _to_plain(
    morphemes: Sequence[Morpheme], final: int, question: bool, keep_respect: bool
) -> list[Morpheme] | None:
    end = morphemes[final].form
    stem, before = _predicate(morphemes, final)
    if _verb_or_adjective(morphemes, stem[-1]) or (
        question and any(m.form == "겠" for m in before)
    ):
        return None
    if end in {"ᆸ니까", "습니까"}:
        return _with_ending(morphemes, final, "니", keep_respect)
    if end in {"ᆸ시다", "읍시다"}:
        return _with_ending(morphemes, final, "자", keep_respect)
    if end == "ᆸ시오":
        return _with_ending(morphemes, final, "어라", False)
    if end in {"ᆸ니다", "습니다"} and not question:
        past = any(m.form in {"었", "겠"} for m in before)
        plain = "다" if past or _is_adjective(morphemes, stem[-1]) else "는다"
        return _with_ending(morphemes, final, plain, keep_respect)
    return None


def _to_polite(
    morphemes: Sequence[Morpheme], final: int, question: bool, _: bool
) -> list[Morpheme] | None:
    end = morphemes[final].form
    stem, before = _predicate(morphemes, final)
    respect = any(m.form in {"시", "으시"} for m in before)
    if end == "ᆸ시오":
        return _with_ending(morphemes, final, "으세요", False)
    if end in {"ᆸ시다", "읍시다"}:
        return _with_ending(morphemes, final, "어요", True)
    if end not in {"ᆸ니다", "습니다", "ᆸ니까", "습니까"} or question != end.endswith("까"):
        return None
    if respect and before[-1].form in {"시", "으시"}:
        return _with_ending(morphemes, final, "으세요", False)
    copula = stem[-1].tag in {"VCP", "VCN"} and not before
    return _with_ending(morphemes, final, "에요" if copula else "어요", True)


def _to_casual(
    morphemes: Sequence[Morpheme], final: int, question: bool, keep_respect: bool
) -> list[Morpheme] | None:
    end = morphemes[final].form
    stem, before = _predicate(morphemes, final)
    copula = stem[-1].tag in {"VCP", "VCN"} and not before
    if end in {"세요", "으세요"}:
        if not question and _ELDER.search("".join(m.form for m in morphemes)):
            return None  # said of an elder, or asked of one?
        if keep_respect:
            changed = _with_ending(morphemes, final, "어", True)
            return [*changed[:-1], Morpheme("으시", "EP", 0, 0), changed[-1]]
        return _with_ending(morphemes, final, "야" if copula else "어", False)
    if end in {"나요", "ᆫ가요", "은가요", "ᆫ가", "은가", "나"} and question:
        return _with_ending(morphemes, final, "야" if copula else "어", keep_respect)
    if end in _CASUAL_ENDINGS:
        return _with_ending(morphemes, final, _CASUAL_ENDINGS[end], keep_respect)
    followed_by_yo = len(morphemes) > final + 1 and morphemes[final + 1].form == "요"
    if followed_by_yo and f"{end}요" in _CASUAL_ENDINGS:
        return _with_ending(morphemes, final, _CASUAL_ENDINGS[f"{end}요"], keep_respect)
    return None


_CONTRACTIONS: Final = (("못하아", "못해"), ("못하았", "못했"), ("뼜", "삐었"), ("아어", "알아"))
"""Where kiwipiepy joins otherwise than people write."""


def _attach_copula(noun: str, copula: str) -> str:
    """책 + 이에요, but 의사 + 예요; 책 + 이었어요, but 의사 + 였어요."""
    if final_sound(noun) != ".":
        return noun + copula
    if copula.startswith("이에요"):
        return noun + "예요"
    if copula.startswith("이었"):
        return noun + "였" + copula[2:]
    return noun + copula.removeprefix("이")


_ENDINGS_OF: Final = {"plain": _to_plain, "polite": _to_polite, "casual": _to_casual}


def _familiar(head: str, morphemes: Sequence[Morpheme]) -> str | None:
    """저 -> 나, 제 -> 내, 네 -> 응 in what stands before the predicate."""
    out, position = "", 0
    for i, m in enumerate(morphemes):
        if m.end > len(head):
            break
        follows = morphemes[i + 1] if i + 1 < len(morphemes) else None
        if m.tag == "NP" and m.form in _PRONOUNS:
            written = head[m.start : follows.end] if follows and follows.start < m.end else m.form
            if head[m.start : m.end] in _FUSED_PRONOUNS:
                written = head[m.start : m.end]
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
