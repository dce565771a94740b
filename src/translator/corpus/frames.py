"""Sentence pairs with slots: how they are written and read.

    I'd like {n} {x:pl}.     {x} {n} {x:cnt} 주십시오.     n=#count;x=food.fruit

A slot in English gives a form of the word, in Korean the word, its counter or a conjugated form; a
particle such as {을} follows the sound before it. data/README.md describes the notation.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from translator.corpus.conjugation import ENDINGS
from translator.corpus.english import AGREEMENT
from translator.corpus.lexicon import FORMS
from translator.errors import UserError
from translator.hangul import PARTICLES
from translator.levels import SPOKEN

PLACEHOLDER: Final = re.compile(r"\{([a-z]+\d?)(?:([:@])([^{}]+))?\}|\{([가-힣]+)\}")
_ENGLISH_FORMS: Final = (*FORMS, *AGREEMENT)
_KOREAN_FORMS: Final = ("cnt", *ENDINGS)


class FrameError(UserError, ValueError):
    """A frame is malformed, or its slots cannot be filled."""


@dataclass(frozen=True)
class Frame:
    """One sentence pair with slots, at four speech levels."""

    id: str
    english: str
    korean: Mapping[str, str]  # level -> template; a level may be missing
    slots: Mapping[str, tuple[str, ...]]  # name -> classes, ids, or one made kind

    @property
    def held_out(self) -> bool:
        """Whether the frame is kept from training to judge by, by a hash of its id: 37 of the 549
        by topic are.

        A frame whose id begins with a digit was made from a hand-written pair, which training sees,
        so it would judge nothing.
        """
        return not self.id[0].isdigit() and hashlib.sha256(self.id.encode()).digest()[0] < 13


def parse_frame(line: str, place: str) -> Frame:
    """One line of a frame file.  Raises FrameError."""
    columns = line.split("\t")
    if len(columns) != 7:
        raise FrameError(f"{place}: expected 7 columns, found {len(columns)}")
    if not all(column.strip() for column in columns[:2]):
        raise FrameError(f"{place}: the columns id and English may not be empty")
    slots = {}
    for item in filter(None, columns[6].split(";")):
        name, equals, wanted = item.strip().partition("=")
        if not equals or not wanted:
            raise FrameError(f"{place}: a slot is written name=class,…, not {item!r}")
        slots[name] = tuple(part.strip() for part in wanted.split(",") if part.strip())
        if not slots[name] or not re.fullmatch(r"[a-z]+\d?", name):
            raise FrameError(f"{place}: a slot is written name=class,…, not {item!r}")
    korean = {level: text for level, text in zip(SPOKEN, columns[2:6], strict=True) if text}
    frame = Frame(columns[0], columns[1], korean, slots)
    _check_placeholders(frame.english, slots, _ENGLISH_FORMS, place)
    for text in korean.values():
        _check_placeholders(text, slots, _KOREAN_FORMS, place)
    unused = [name for name in slots if not re.search(rf"[{{@]{name}[}}:@]", frame.english)]
    if unused:
        raise FrameError(f"{place}: the English does not use the slot {unused[0]}")
    return frame


def _check_placeholders(
    text: str, slots: Mapping[str, tuple[str, ...]], forms: Sequence[str], place: str
) -> None:
    rest = PLACEHOLDER.sub("", text)
    if "{" in rest or "}" in rest:
        raise FrameError(f"{place}: a brace is out of place in {text!r}")
    for name, operator, form, name_of_particle in PLACEHOLDER.findall(text):
        if name_of_particle and name_of_particle not in PARTICLES:
            raise FrameError(f"{place}: unknown particle {{{name_of_particle}}}")
        if name and name not in slots:
            raise FrameError(f"{place}: there is no slot {name}")
        if operator == "@" and form not in slots:
            raise FrameError(f"{place}: there is no slot {form}")
        if operator == ":" and form not in forms:
            known = ", ".join(filter(None, forms))
            raise FrameError(f"{place}: unknown form {{{name}:{form}}}; there are {known}")
