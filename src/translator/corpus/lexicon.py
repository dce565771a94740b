"""Words with their class: what a slot of a frame can be filled with."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from translator.corpus import english
from translator.errors import UserError
from translator.levels import SPOKEN
from translator.textfile import read_lines

_PERSONS: Final = {"1": 0, "3": 1, "1pl": 2, "3pl": 2}


class LexiconError(UserError, ValueError):
    """A line of a lexicon file is malformed, or an entry lacks what it is asked for."""


@dataclass(frozen=True)
class Entry:
    """One sense of one word."""

    id: str
    word_class: str
    en: str
    ko: str  # one form, or four separated by | in the order of SPOKEN
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def countable(self) -> bool:
        """Whether one can say both one of it and two of them."""
        return "mass" not in self.extra and "plonly" not in self.extra

    def korean(self, level: str) -> str:
        """The word at a speech level."""
        variants = self.ko.split("|")
        return variants[SPOKEN.index(level)] if len(variants) > 1 else variants[0]

    def english(self, form: str) -> str:
        """An English form: "" a the pl poss · s past pp ing · er est · be was … obj my.

        Raises:
            LexiconError: no such form.
        """
        if form in FORMS:
            return FORMS[form](self)
        if form in english.AGREEMENT:
            return english.AGREEMENT[form][self.person]
        raise LexiconError(f"{self.id}: no English form {form!r}")

    @property
    def person(self) -> int:
        """0 for I, 1 for he, she and one thing, 2 for we, they and several."""
        return _PERSONS[self.extra.get("person", "3")]

    def agreeing(self, person: int) -> str:
        """A verb in the present for a subject's person."""
        return self.english("s") if person == 1 else self.en


def _as_listed(entry: Entry) -> str:
    return f"the {entry.en}" if "the" in entry.extra else entry.en


def _with_article(entry: Entry) -> str:
    if "the" in entry.extra or not entry.countable:
        return _as_listed(entry)
    fixed = next((a for a in ("an", "a") if a in entry.extra), None)
    return f"{fixed or english.article(entry.en)} {entry.en}"


def _plural(entry: Entry) -> str:
    return entry.extra.get("pl") or (english.plural(entry.en) if entry.countable else entry.en)


def _possessive(entry: Entry) -> str:
    return _as_listed(entry) + ("'" if entry.en.endswith("s") and "plonly" in entry.extra else "'s")


def _past(entry: Entry) -> str:
    return entry.extra.get("past") or english.past(entry.en)


FORMS: Final[Mapping[str, Callable[[Entry], str]]] = {
    "": _as_listed,
    "a": _with_article,
    "the": lambda entry: f"the {entry.en}",
    "pl": _plural,
    "poss": _possessive,
    "s": lambda entry: entry.extra.get("3sg") or english.third_person(entry.en),
    "past": _past,
    "pp": lambda entry: entry.extra.get("pp") or _past(entry),
    "ing": lambda entry: entry.extra.get("ing") or english.ing(entry.en),
    "er": lambda entry: entry.extra.get("cmp") or english.comparative(entry.en),
    "est": lambda entry: entry.extra.get("sup") or english.superlative(entry.en),
    "obj": lambda entry: english.OBJECTS.get(entry.en, _as_listed(entry)),
    "my": lambda entry: entry.extra.get("my", "their"),
}
"""English form -> how an entry gets it; what agrees with a subject is in `english.AGREEMENT`."""


class Lexicon:
    """All entries, by id and by class."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.by_id: dict[str, Entry] = {}
        self._members: dict[str, list[Entry]] = {}
        for entry in entries:
            if entry.id in self.by_id:
                raise LexiconError(f"lexicon: the id {entry.id} is given twice")
            self.by_id[entry.id] = entry
            for name in _class_names(entry.word_class):
                self._members.setdefault(name, []).append(entry)

    @classmethod
    def read(cls, directory: str | Path) -> "Lexicon":
        """Reads every entry file of a directory.  Raises LexiconError."""
        entries: list[Entry] = []
        for path in sorted(Path(directory).glob("*.tsv")):
            for number, line in enumerate(read_lines(path), 1):
                entries.append(_parse(line, f"{path}:{number}"))
        return cls(entries)

    def select(self, wanted: Sequence[str]) -> list[Entry]:
        """Entries for a slot: "food" with sub-classes, "food!" without, "@id" one, "-@id" not that.

        Raises:
            LexiconError: a class or an id does not exist.
        """
        chosen: dict[str, Entry] = {}
        for item in wanted:
            if item.startswith("-@"):
                chosen.pop(self._get(item[2:]).id, None)
            elif item.startswith("@"):
                chosen[item[1:]] = self._get(item[1:])
            else:
                if item not in self._members:
                    raise LexiconError(f"lexicon: no entry has the class {item}")
                chosen.update({entry.id: entry for entry in self._members[item]})
        return list(chosen.values())

    def _get(self, entry_id: str) -> Entry:
        if entry_id not in self.by_id:
            raise LexiconError(f"lexicon: there is no entry {entry_id}")
        return self.by_id[entry_id]


def _class_names(word_class: str) -> list[str]:
    """What a slot can call the class of an entry: food.fruit -> food, food.fruit, food.fruit!"""
    parts = word_class.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts) + 1)] + [f"{word_class}!"]


def _parse(line: str, place: str) -> Entry:
    columns = line.split("\t")
    if len(columns) != 5 or not all(columns[:4]):
        raise LexiconError(f"{place}: expected id, class, English, Korean and extra between tabs")
    extra = {}
    for item in filter(None, columns[4].split(";")):
        key, _, value = item.partition("=")
        extra[key.strip()] = value.strip()
    if columns[3].count("|") not in (0, len(SPOKEN) - 1):
        raise LexiconError(f"{place}: Korean has one form, or four separated by |")
    if extra.get("person", "3") not in _PERSONS:
        raise LexiconError(f"{place}: person is one of {', '.join(_PERSONS)}")
    return Entry(columns[0], columns[1], columns[2], columns[3], extra)
