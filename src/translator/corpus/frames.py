"""Sentence pairs with slots, and the drawing of pairs from them.

    I'd like {n} {x:pl}.     {x} {n} {x:cnt} 주십시오.     n=#count;x=food.fruit

A slot in English gives a form of the word, in Korean the word, its counter or a conjugated form; a
particle such as {을} follows the sound before it. data/README.md describes the notation.
"""

import hashlib
import itertools
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from translator.corpus.conjugation import ENDINGS, Conjugations
from translator.corpus.english import AGREEMENT, article
from translator.corpus.kinds import KINDS
from translator.corpus.lexicon import FORMS, Entry, Lexicon
from translator.errors import UserError
from translator.hangul import PARTICLES, attach
from translator.levels import SPOKEN
from translator.pairs import Pair
from translator.textfile import read_lines

_PLACEHOLDER = re.compile(r"\{([a-z]+\d?)(?:([:@])([^{}]+))?\}|\{([가-힣]+)\}")
_SINGULAR = re.compile(
    r"\b(this|that|is|isn't|was|wasn't|has|does|doesn't|it|one|each|every)\b|'s\b"
)
_DETERMINED = re.compile(
    r"\b(the|this|that|my|your|his|her|its|our|their|every|each|another|which|'s) $", re.IGNORECASE
)
_ENGLISH_FORMS = (*FORMS, *AGREEMENT)
_KOREAN_FORMS = ("cnt", *ENDINGS)
_NO_WORDS_ALONE = {"verb", "adj", "subj", "subj3", "subjpl"}
"""Word classes whose Korean would be a dictionary form, or a sentence's subject."""
_WITH_ARTICLE = {"person", "thing", "animal", "clothes", "vehicle", "food"}
_MADE_SAMPLES = 12  # the number of different fillers that a made kind counts for in `capacity`


class FrameError(UserError, ValueError):
    """A frame is malformed, or its slots cannot be filled."""


class Filler(Protocol):
    """What fills a slot: a word, or a number that was made."""

    def english(self, form: str) -> str:
        """The English form that a template asks for."""

    def korean(self, level: str) -> str:
        """The Korean at a speech level."""


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


class FrameSet:
    """All frames with the lexicon and the conjugations that fill them: draws pairs, the same for
    the same seed.
    """

    def __init__(
        self, lexicon: Lexicon, conjugations: Conjugations, frames: Sequence[Frame]
    ) -> None:
        self.lexicon = lexicon
        self.conjugations = conjugations
        self.frames = frames
        self._entries = {frame.id: self._choices(frame) for frame in frames}

    @classmethod
    def read(cls, data: str | Path) -> "FrameSet":
        """Reads `lexicon/` and `frames/` below a data directory.  Raises UserError."""
        data = Path(data)
        frames: list[Frame] = []
        for path in sorted((data / "frames").glob("*.tsv")):
            for number, line in enumerate(read_lines(path), 1):
                frames.append(parse_frame(line, f"{path}:{number}"))
        ids = [frame.id for frame in frames]
        if len(set(ids)) != len(ids):
            twice = next(i for i in ids if ids.count(i) > 1)
            raise FrameError(f"{data}/frames: the id {twice} is given twice")
        lexicon = Lexicon.read(data / "lexicon")
        return cls(lexicon, Conjugations.read(data / "conjugations.tsv"), frames)

    def capacity(self, frame: Frame) -> int:
        """How many different fillings the frame has (made kinds count as a dozen each)."""
        sizes = [len(c) if c else _MADE_SAMPLES for c in self._entries[frame.id].values()]
        return math.prod(sizes)

    def draw(self, frame: Frame, n: int, level: str, seed: int) -> list[Pair]:
        """Up to n different pairs of one frame."""
        template = frame.korean.get(level)
        if not template:
            return []
        rng = random.Random(f"{seed}/{frame.id}")
        found: dict[str, Pair] = {}
        for _ in range(3 * n):
            if len(found) == n:
                break
            fillers = self._fill(frame, rng)
            if fillers is not None:
                src = render_english(frame.english, fillers)
                tgt = render_korean(template, fillers, level, self.conjugations)
                found.setdefault(src, Pair(src, tgt, level))
        return list(found.values())

    def draw_all(
        self, per_frame: int, levels: Sequence[str], seed: int, held_out: bool = False
    ) -> Iterator[Pair]:
        """Pairs of every frame at every level; the same English at each level.

        Args:
            held_out: draw from the frames that are kept from training instead of all others
        """
        for frame, level in itertools.product(self.frames, levels):
            if frame.held_out == held_out:
                yield from self.draw(frame, min(per_frame, self.capacity(frame)), level, seed)

    def words(self, levels: Sequence[str]) -> Iterator[Pair]:
        """Each noun, name and adverb by itself, persons and things also with an article. Left out
        is what has several senses, and what is a different word at different
        levels.
        """
        korean: dict[str, set[str]] = {}
        for entry in self.lexicon.by_id.values():
            kind = entry.word_class.split(".")[0]
            if kind not in _NO_WORDS_ALONE:
                forms = ("", "a") if kind in _WITH_ARTICLE and entry.en.islower() else ("",)
                for english in map(entry.english, forms):
                    korean.setdefault(english, set()).add(entry.ko)
        for english, [one, *others] in korean.items():
            if not others and "|" not in one:
                yield from (Pair(english, one, level) for level in levels)

    def _choices(self, frame: Frame) -> dict[str, list[Entry]]:
        """The entries of each slot; an empty list for a made kind."""
        choices: dict[str, list[Entry]] = {}
        for name, wanted in frame.slots.items():
            if wanted[0].startswith("#"):
                if wanted[0] not in KINDS:
                    raise FrameError(f"frame {frame.id}: unknown kind {wanted[0]}")
                choices[name] = []
                continue
            entries = self.lexicon.select(wanted)
            uses = re.findall(rf"\{{{name}(?::(\w+))?\}}", frame.english)
            counted = "pl" in uses and any(
                other[0] in {"#count", "#countdigits"} for other in frame.slots.values()
            )
            singular = _SINGULAR.search(frame.english) and set(uses) & {"", "a", "the"}
            entries = [
                entry
                for entry in entries
                if not (counted and not entry.countable)
                and not (singular and "plonly" in entry.extra)
            ]
            if not entries:
                raise FrameError(f"frame {frame.id}: nothing can fill the slot {name}")
            choices[name] = entries
        return choices

    def _fill(self, frame: Frame, rng: random.Random) -> dict[str, Filler] | None:
        """One filler for each slot; None when two slots drew the same word."""
        fillers: dict[str, Filler] = {}
        used: set[str] = set()
        for name, entries in self._entries[frame.id].items():
            if not entries:
                fillers[name] = KINDS[frame.slots[name][0]](rng)
                continue
            entry = rng.choice(entries)
            if entry.ko in used:
                return None
            used.add(entry.ko)
            fillers[name] = entry
        return fillers


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
    rest = _PLACEHOLDER.sub("", text)
    if "{" in rest or "}" in rest:
        raise FrameError(f"{place}: a brace is out of place in {text!r}")
    for name, operator, form, name_of_particle in _PLACEHOLDER.findall(text):
        if name_of_particle and name_of_particle not in PARTICLES:
            raise FrameError(f"{place}: unknown particle {{{name_of_particle}}}")
        if name and name not in slots:
            raise FrameError(f"{place}: there is no slot {name}")
        if operator == "@" and form not in slots:
            raise FrameError(f"{place}: there is no slot {form}")
        if operator == ":" and form not in forms:
            known = ", ".join(filter(None, forms))
            raise FrameError(f"{place}: unknown form {{{name}:{form}}}; there are {known}")


def render_english(template: str, fillers: Mapping[str, Filler]) -> str:
    """The English sentence of a filled frame, its first letter a capital."""
    out = ""
    position = 0
    for match in _PLACEHOLDER.finditer(template):
        out += template[position : match.start()]
        position = match.end()
        name, operator, form, _ = match.groups()
        filler = fillers[name]
        if operator == "@":
            subject = fillers[form]
            if not (isinstance(filler, Entry) and isinstance(subject, Entry)):
                raise FrameError(f"{{{name}@{form}}}: a made slot cannot agree: {template}")
            text = filler.agreeing(subject.person)
        else:
            text = filler.english(form or "")
        if text.startswith("'"):  # I'm not
            out = out.rstrip()
        if _DETERMINED.search(out):
            text = text.removeprefix("the ")
        out = _right_article(out, text) + text
    out += template[position:]
    return out[0].upper() + out[1:]


def _right_article(before: str, word: str) -> str:
    """An article that the template spells out follows the word that the slot gives."""
    match = re.search(r"\b(a|an|A|An) $", before)
    if not match:
        return before
    fitting = article(word)
    return before[: match.start()] + (fitting.capitalize() if match[1][0] == "A" else fitting) + " "


def render_korean(
    template: str, fillers: Mapping[str, Filler], level: str, conjugations: Conjugations
) -> str:
    """The Korean sentence of a filled frame, particles and endings fitted."""
    out = ""
    position = 0
    for match in _PLACEHOLDER.finditer(template):
        out += template[position : match.start()]
        position = match.end()
        name, _, form, particle = match.groups()
        if particle:
            out = attach(out, particle)
        elif not form:
            out += fillers[name].korean(level)
        else:
            entry = fillers[name]
            if not isinstance(entry, Entry):
                raise FrameError(f"{{{name}:{form}}}: a made slot has no Korean forms: {template}")
            out += _counter(entry) if form == "cnt" else conjugations.conjugate(entry, form)
    return out + template[position:]


def _counter(entry: Entry) -> str:
    if "cnt" in entry.extra:
        return entry.extra["cnt"]
    kind = entry.word_class.split(".")[0]
    return {"person": "명", "name": "명", "animal": "마리"}.get(kind, "개")
