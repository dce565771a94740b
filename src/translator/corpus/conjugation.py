"""Conjugated forms of Korean verbs and adjectives, from a table that kiwipiepy once made."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from translator.corpus.kiwi import load_kiwi, with_ni
from translator.corpus.lexicon import Entry, LexiconError
from translator.hangul import final_sound
from translator.textfile import read_lines

Morphemes = Sequence[tuple[str, str]]
"""Forms with their tags."""

ENDINGS: Final[Mapping[str, Morphemes]] = {
    **{
        e: ((e, "EF"),)
        for e in "습니다 습니까 어요 네요 나요 을까요 을게요 어 을까 을게 니 는다 다".split()
    },
    **{e: ((e, "EF"),) for e in "으십시오 읍시다 자 어라".split()},
    **{
        e: ((e, "EC"),)
        for e in "고 지 어서 으면 으니까 지만 는데 은데 으러 으려고 으면서 어야 어도".split()
    },
    **{e: ((e, "ETN"),) for e in "기 음".split()},
    **{e: ((e, "ETM"),) for e in "을 은 는 던".split()},
    "었습니다": (("었", "EP"), ("습니다", "EF")),
    "었습니까": (("었", "EP"), ("습니까", "EF")),
    "었어요": (("었", "EP"), ("어요", "EF")),
    "었어": (("었", "EP"), ("어", "EF")),
    "었다": (("었", "EP"), ("다", "EF")),
    "겠습니다": (("겠", "EP"), ("습니다", "EF")),
    "으십니까": (("으시", "EP"), ("습니까", "EF")),
    "으셨습니까": (("으시", "EP"), ("었", "EP"), ("습니까", "EF")),
    "으세요": (("으세요", "EF"),),
    "으셨어요": (("으시", "EP"), ("었", "EP"), ("어요", "EF")),
}
"""What a frame may write after a verb or an adjective, as in {v:었습니다}, and its morphemes."""

_REGULAR_ADJECTIVES: Final = {"좁", "비좁", "수줍"}
_AMBIGUOUS_FINALS: Final = frozenset("ㄷㅂㅅㅎ")
"""Stems that end in these are regular in some words and irregular in others."""


class Conjugations:
    """(stem key, ending) -> conjugated form; `stem_key` makes the first."""

    def __init__(self, table: Mapping[tuple[str, str], str]) -> None:
        self._table = table

    @classmethod
    def read(cls, path: str | Path) -> "Conjugations":
        """Reads the committed table."""
        table = {}
        for number, line in enumerate(read_lines(path), 1):
            columns = line.split("\t")
            if len(columns) != 3:
                raise LexiconError(f"{path}:{number}: expected stem, ending and form between tabs")
            table[columns[0], columns[1]] = columns[2]
        return cls(table)

    def conjugate(self, entry: Entry, ending: str) -> str:
        """The form of an entry.  Raises LexiconError when the table lacks it."""
        head, _, last = entry.ko.rpartition(" ")
        try:
            form = self._table[(stem_key(entry), ending)]
        except KeyError:
            raise LexiconError(
                f"{entry.id}: the table has no {last} + {ending}; run: translator corpus conjugate"
            ) from None
        return f"{head} {form}" if head else form


def stem_key(entry: Entry) -> str:
    """The last word's dictionary form, "*" after an irregular one, "+" after an adjective."""
    last = entry.ko.rpartition(" ")[2]
    irregular = "*" if "irr" in entry.extra else ""
    return last + irregular + ("+" if entry.word_class.startswith("adj") else "")


def conjugate_all(entries: Iterable[Entry]) -> Iterator[tuple[str, str, str]]:
    """Every form of every verb and adjective: (stem key, ending, form). Needs kiwipiepy."""
    kiwi = load_kiwi()
    for key in sorted({stem_key(entry) for entry in entries if entry.ko.endswith("다")}):
        stem = _stem_morphemes(key)
        for ending, morphemes in ENDINGS.items():
            if ending == "니":
                yield key, ending, with_ni(kiwi, stem)
            else:
                yield key, ending, kiwi.join([*stem, *_fitting(stem, ending, morphemes)])


def _stem_morphemes(key: str) -> Morphemes:
    stem, adjective = key.rstrip("*+").removesuffix("다"), key.endswith("+")
    if adjective and stem.endswith(("적이", "식이")):  # 전통적이다 is a noun with the copula
        return ((stem[:-1], "NNG"), ("이", "VCP"))
    tag = "VA" if adjective else "VV"
    final = final_sound(stem[-1])
    if final in _AMBIGUOUS_FINALS:
        usual = adjective and final == "ㅂ" and stem not in _REGULAR_ADJECTIVES
        tag += "-I" if usual or "*" in key else "-R"
    return ((stem, tag),)


def _fitting(stem: Morphemes, ending: str, morphemes: Morphemes) -> Morphemes:
    """The ending's morphemes, but 이에요 and 이야 for the copula, 맛있는 and not 맛있은."""
    last, tag = stem[-1]
    if tag == "VCP" and ending in {"어요", "어"}:
        return (("에요" if ending == "어요" else "야", "EF"),)
    if last.endswith(("있", "없")) and ending in {"은", "은데"}:
        return ENDINGS[ending.replace("은", "는")]
    return morphemes
