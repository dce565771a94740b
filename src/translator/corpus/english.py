"""English forms that follow a rule: plural, article, verbs, comparison, agreement, numerals."""

import re
from typing import Final

AGREEMENT: Final = {
    "be": ("am", "is", "are"),
    "was": ("was", "was", "were"),
    "have": ("have", "has", "have"),
    "do": ("do", "does", "do"),
    "isnt": ("'m not", "isn't", "aren't"),
    "wasnt": ("wasn't", "wasn't", "weren't"),
    "havent": ("haven't", "hasn't", "haven't"),
    "dont": ("don't", "doesn't", "don't"),
}
"""Form -> what stands after the first person, the third person and the plural."""

OBJECTS: Final = {"I": "me", "he": "him", "she": "her", "we": "us", "they": "them"}

_UNITS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS: Final = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS: Final = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def article(phrase: str) -> str:
    """a or an, by the first sound: an apple, an hour, a house, a university, a one-way ticket.

    A rule of thumb on the spelling; a lexicon entry says `a` or `an` where it is wrong.
    """
    word = phrase.lower()
    if re.match(r"uni(?!n|m[ap]|de)|us[eu]|eu|one(?!r)|ut[eio]|ubi|ur[aio]", word):
        return "a"
    return "an" if word[0] in "aeiou" or re.match(r"(hour|honest|honou?r|heir)", word) else "a"


def plural(noun: str) -> str:
    """By rule: box -> boxes, city -> cities, bus stop -> bus stops."""
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + ("es" if re.search(r"(s|x|z|ch|sh)$", noun) else "s")


def third_person(verb: str) -> str:
    """By rule, on the first word: look for -> looks for, go -> goes, have -> has."""
    first, rest = _split(verb)
    if first == "have":
        return "has" + rest
    return (first + "es" if first.endswith("o") else plural(first)) + rest


def past(verb: str) -> str:
    """By rule, on the first word: study -> studied, stop -> stopped, move -> moved."""
    first, rest = _split(verb)
    if first.endswith("e"):
        return first + "d" + rest
    return _before_ending(first) + "ed" + rest


def ing(verb: str) -> str:
    """By rule, on the first word: write -> writing, run -> running, lie -> lying."""
    first, rest = _split(verb)
    if first.endswith("ie"):
        return first[:-2] + "ying" + rest
    if re.search(r"[^eoy]e$", first) and len(first) > 2:
        return first[:-1] + "ing" + rest
    return _doubled(first) + "ing" + rest


def comparative(adjective: str) -> str:
    """old -> older, happy -> happier, careful -> more careful."""
    return _compare(adjective, "er", "more")


def superlative(adjective: str) -> str:
    """old -> oldest, happy -> happiest, careful -> most careful."""
    return _compare(adjective, "est", "most")


def numeral(n: int) -> str:
    """0-9999 in words: 21 -> twenty-one, 305 -> three hundred and five."""
    if n < 20:
        return _UNITS[n]
    if n < 100:
        return _TENS[n // 10] + (f"-{_UNITS[n % 10]}" if n % 10 else "")
    if n < 1000:
        rest = f" and {numeral(n % 100)}" if n % 100 else ""
        return f"{_UNITS[n // 100]} hundred{rest}"
    rest = f" {numeral(n % 1000)}" if n % 1000 else ""
    return f"{numeral(n // 1000)} thousand{rest}"


def ordinal(n: int) -> str:
    """1-99 in words: 3 -> third, 21 -> twenty-first, 30 -> thirtieth."""
    head, dash, last = numeral(n).rpartition("-")
    if last in _ORDINALS:
        return head + dash + _ORDINALS[last]
    return head + dash + (last[:-1] + "ieth" if last.endswith("y") else last + "th")


def _split(phrase: str) -> tuple[str, str]:
    first, space, rest = phrase.partition(" ")
    return first, space + rest


def _doubled(word: str) -> str:
    """One syllable, one short vowel, one consonant: the consonant doubles (stop -> stopp)."""
    short = re.fullmatch(r"([^aeiou]*|qu)[aeiou][bdgklmnprt]", word)
    return word + word[-1] if short else word


def _before_ending(word: str) -> str:
    return word[:-1] + "i" if re.search(r"[^aeiou]y$", word) else _doubled(word)


def _compare(adjective: str, ending: str, word: str) -> str:
    syllables = len(re.findall(r"[aeiouy]+", adjective.removesuffix("e")))
    long = syllables > 2 or (syllables == 2 and not adjective.endswith("y"))
    if long or " " in adjective or "-" in adjective:
        return f"{word} {adjective}"
    if adjective.endswith("e"):
        return adjective + ending[1:]
    return _before_ending(adjective) + ending
