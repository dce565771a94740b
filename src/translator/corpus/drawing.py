"""All frames with the words that fill them: draws sentence pairs, the same for the same seed."""

import itertools
import math
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from translator.corpus.conjugation import Conjugations
from translator.corpus.frames import Frame, FrameError, parse_frame
from translator.corpus.kinds import KINDS
from translator.corpus.lexicon import Entry, Lexicon
from translator.corpus.rendering import Filler, render_english, render_korean
from translator.pairs import Pair
from translator.textfile import read_lines

_SINGULAR: Final = re.compile(
    r"\b(this|that|is|isn't|was|wasn't|has|does|doesn't|it|one|each|every)\b|'s\b"
)
_NO_WORDS_ALONE: Final = {"verb", "adj", "subj", "subj3", "subjpl"}
"""Word classes whose Korean would be a dictionary form, or a sentence's subject."""
_WITH_ARTICLE: Final = {"person", "thing", "animal", "clothes", "vehicle", "food"}
_MADE_SAMPLES: Final = 12
"""The number of different fillers that a made kind counts for in `capacity`."""


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
