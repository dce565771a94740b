"""A Korean sentence as morphemes, and what a change of its last ending has to know about it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

RESPECT: Final = frozenset({"시", "으시"})
"""The suffix -시-, which shows respect for whom the predicate is about."""

_ELDER: Final = re.compile(
    "께서|할머니|할아버지|어머니|아버지|부모님|선생님|교수님|사장님|부장님|박사님|고모|이모|삼촌"
)
_AFTER_THE_ENDING: Final = frozenset({"SF", "JX", "SO"})
"""Tags that may follow the last ending: final marks, and the 요 that stands apart from it."""


class Morpheme(NamedTuple):
    """One morpheme of a sentence, with the place that it came from."""

    form: str
    tag: str
    start: int
    end: int


@dataclass(frozen=True)
class Sentence:
    """A sentence with a predicate and one sentence-final ending, the morpheme number `final`."""

    text: str
    morphemes: Sequence[Morpheme]
    final: int

    @classmethod
    def of(cls, text: str, morphemes: Sequence[Morpheme]) -> "Sentence | None":
        """None where there is no final ending, more than one, or nothing that it belongs to."""
        endings = [i for i, m in enumerate(morphemes) if m.tag == "EF"]
        if len(endings) != 1:
            return None
        final = endings[0]
        if any(m.tag not in _AFTER_THE_ENDING for m in morphemes[final + 1 :]):
            return None
        has_stem = any(m.tag != "EP" for m in morphemes[:final])
        return cls(text, morphemes, final) if has_stem else None

    @property
    def ending(self) -> str:
        """The form of the final ending."""
        return self.morphemes[self.final].form

    @property
    def question(self) -> bool:
        """Whether it asks."""
        return "?" in self.text

    @property
    def imperative(self) -> bool:
        """Whether its ending asks somebody to do something. -으세요 is not counted: in a question
        about an elder (뭐 읽으세요?) it keeps its respect.
        """
        return self.ending in {"ᆸ시오", "세요"}

    @property
    def elder(self) -> bool:
        """Whether somebody is named whom one speaks of with respect."""
        return bool(_ELDER.search(self.text))

    @property
    def elder_in_morphemes(self) -> bool:
        """The same, where the name is fused with what follows it (할머닌)."""
        return bool(_ELDER.search("".join(m.form for m in self.morphemes)))

    @property
    def keeps_respect(self) -> bool:
        """Whether -시- is for an elder who is spoken about, not for the person spoken to."""
        return self.elder and not self.imperative

    @property
    def stem(self) -> list[Morpheme]:
        """The last stem, with what is fused into it: 거 + 이 + ᆸ니까."""
        last = self._last_of_stem
        first = last
        while first > 0 and self.morphemes[first - 1].end > self.morphemes[first].start:
            first -= 1
        return list(self.morphemes[first : last + 1])

    @property
    def before_ending(self) -> list[Morpheme]:
        """The endings between the stem and the final one: -시-, -었-, -겠-."""
        return list(self.morphemes[self._last_of_stem + 1 : self.final])

    @property
    def _last_of_stem(self) -> int:
        last = self.final - 1
        while self.morphemes[last].tag == "EP":
            last -= 1
        return last

    @property
    def is_copula(self) -> bool:
        """Whether it ends in -이다 or 아니다 in the present."""
        return self.stem[-1].tag in {"VCP", "VCN"} and not self.before_ending

    @property
    def is_adjective(self) -> bool:
        """Whether the plain present is -다 and not -는다."""
        return _is_adjective(self.morphemes, self.stem[-1])

    @property
    def verb_or_adjective(self) -> bool:
        """Stems that cannot be told apart: 빨리 크다 (grow), 아삭아삭하다, 도- for 돌-."""
        stem = self.stem[-1]
        before = next((m for m in reversed(self.morphemes) if m.end <= stem.start), None)
        adverb = before is not None and before.tag == "MAG"
        return stem.form == "도" or (adverb and (stem.form == "크" or stem.tag == "XSV"))

    def with_ending(self, form: str, keep_respect: bool) -> list[Morpheme]:
        """The predicate with another final ending, with or without its -시-."""
        kept = [m for m in self.before_ending if keep_respect or m.form not in RESPECT]
        end = self.morphemes[self.final]
        return [*self.stem, *kept, Morpheme(form, "EF", end.start, end.end)]


def _is_adjective(morphemes: Sequence[Morpheme], stem: Morpheme) -> bool:
    """않다 and 못하다 follow the word before."""
    if stem.tag in {"VCP", "VCN"} or stem.tag.startswith(("VA", "XSA")):
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
