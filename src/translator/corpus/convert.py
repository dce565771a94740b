"""Korean sentences moved to another speech level, by kiwipiepy's morphemes.

    formal -> polite, plain      polite -> casual

Only what can be converted with certainty is converted; for everything else the answer is None. A
respectful -시- is kept for elders who are spoken about and dropped for the person spoken to; where
that cannot be told apart, nothing is converted.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from translator.corpus.endings import ENDING_AT
from translator.corpus.familiar import familiar
from translator.corpus.joining import joined
from translator.corpus.kiwi import load_kiwi
from translator.corpus.morphemes import RESPECT, Morpheme, Sentence
from translator.levels import WITH_BIEUP, speech_level

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
"""Level -> sentences that have a form of their own there."""
_LEFT_FORMAL: Final = re.compile(rf"[{WITH_BIEUP}]니[다까],")
_LEFT_POLITE: Final = re.compile(r"(^|\s)(제|저|저희)\s|^전\s|씨[,!]")
"""What shows that a word was not recognised, or that someone is addressed respectfully."""
_FIRST_CLAUSE_POLITE: Final = re.compile(r"(니다|니까|[요죠])[,·]")


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
        if "지었" in korean and re.search("졌|져", text):
            return None  # 짓다 build, read as 지다 lose
        if _LEFT_FORMAL.search(text):
            return None  # 수건은 제공됩니까, 저희가 가져가야 해요?
        if target != "polite" and _LEFT_POLITE.search(text):
            return None
        expected = {"polite"} if target == "polite" else {"casual", "plain", "any"}
        return text if speech_level(text) in expected else None

    def _sentence(self, text: str, target: str, suggestion: bool) -> str | None:
        core = text.strip(" .!?")
        if core in _FIXED[target]:
            return text.replace(core, _FIXED[target][core])
        sentence = Sentence.of(text, self._analyse(text))
        if sentence is None or not _convertible(sentence):
            return None
        predicate = ENDING_AT[target](sentence)
        if predicate is None:
            return None
        if suggestion and target == "casual":
            predicate = [*predicate[:-1], predicate[-1]._replace(form="자")]
        head = text[: predicate[0].start]
        if target != "polite":
            changed = familiar(head, sentence.morphemes)
            if changed is None or _FIRST_CLAUSE_POLITE.search(changed):
                return None
            head = changed
        tail = text[sentence.morphemes[sentence.final].end :]
        return joined(self._kiwi, head, predicate) + tail.removeprefix("요")

    def _analyse(self, text: str) -> list[Morpheme]:
        tokens: Sequence[Any] = self._kiwi.tokenize(text)
        return [Morpheme(t.form, t.tag, t.start, t.start + t.len) for t in tokens]


def _convertible(sentence: Sentence) -> bool:
    """No word that another level would replace, and no -시- whose person is unclear."""
    text, morphemes, final = sentence.text, sentence.morphemes, sentence.final
    if not sentence.elder and any(m.form in _HONORIFIC_WORDS for m in morphemes):
        return False
    if any(text[m.start : m.end] == "저" and m.tag != "NP" for m in morphemes):
        return False  # "저 사람" or a dropped particle
    respect = [i for i, m in enumerate(morphemes) if m.tag == "EP" and m.form in RESPECT]
    if not respect or sentence.elder:
        return True
    if any(m.tag != "EP" for i in respect for m in morphemes[i:final]):
        return False  # -시- in a clause before the last predicate
    return sentence.question or sentence.imperative
