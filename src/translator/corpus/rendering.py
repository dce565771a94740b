"""A frame whose slots are filled becomes a sentence in each language."""

import re
from collections.abc import Mapping
from typing import Final, Protocol

from translator.corpus.conjugation import Conjugations
from translator.corpus.english import article
from translator.corpus.frames import PLACEHOLDER, FrameError
from translator.corpus.lexicon import Entry
from translator.hangul import attach

_DETERMINED: Final = re.compile(
    r"\b(the|this|that|my|your|his|her|its|our|their|every|each|another|which|'s) $", re.IGNORECASE
)


class Filler(Protocol):
    """What fills a slot: a word, or a number that was made."""

    def english(self, form: str) -> str:
        """The English form that a template asks for."""

    def korean(self, level: str) -> str:
        """The Korean at a speech level."""


def render_english(template: str, fillers: Mapping[str, Filler]) -> str:
    """The English sentence of a filled frame, its first letter a capital."""
    out = ""
    position = 0
    for match in PLACEHOLDER.finditer(template):
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
    for match in PLACEHOLDER.finditer(template):
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
