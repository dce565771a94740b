"""English forms that follow a rule: plural, article, verb forms, comparison, agreement."""

import re
from typing import Final

_VOWELS: Final = "aeiou"

AGREEMENT: Final = {
    #             I            he/she        we/they
    "be": ("am", "is", "are"),
    "was": ("was", "was", "were"),
    "have": ("have", "has", "have"),
    "do": ("do", "does", "do"),
    "isnt": ("'m not", "isn't", "aren't"),
    "wasnt": ("wasn't", "wasn't", "weren't"),
    "havent": ("haven't", "hasn't", "haven't"),
    "dont": ("don't", "doesn't", "don't"),
}
"""Form name -> what stands behind the first, third and plural person."""

OBJECTS: Final = {"I": "me", "he": "him", "she": "her", "we": "us", "they": "them"}


def plural(noun: str) -> str:
    """By rule: box -> boxes, city -> cities, bus stop -> bus stops."""
    return _add_s(noun)


def article(phrase: str) -> str:
    """a or an, by the first letter."""
    return "an" if phrase[0].lower() in _VOWELS else "a"


def third_person(verb: str) -> str:
    """By rule, on the first word: look for -> looks for, go -> goes, have -> has."""
    return _on_first_word(verb, lambda word: "has" if word == "have" else _add_s(word, "o"))


def past(verb: str) -> str:
    """By rule, on the first word: study -> studied, stop -> stopped, move -> moved."""
    return _on_first_word(verb, lambda word: _stem(word, "e") + ("d" if word[-1] == "e" else "ed"))


def ing(verb: str) -> str:
    """By rule, on the first word: write -> writing, run -> running, lie -> lying."""

    def form(word: str) -> str:
        if word.endswith("ie"):
            return word[:-2] + "ying"
        if word.endswith("e") and not word.endswith(("ee", "oe", "ye")) and len(word) > 2:
            return word[:-1] + "ing"
        return _doubled(word) + "ing"

    return _on_first_word(verb, form)


def comparative(adjective: str) -> str:
    """old -> older, happy -> happier, careful -> more careful."""
    return _compare(adjective, "er", "more")


def superlative(adjective: str) -> str:
    """old -> oldest, happy -> happiest, careful -> most careful."""
    return _compare(adjective, "est", "most")


def _on_first_word(phrase: str, change) -> str:  # type: ignore[no-untyped-def]
    first, *rest = phrase.split(" ")
    return " ".join([change(first), *rest])


def _add_s(word: str, also_es: str = "") -> str:
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    if re.search(rf"(s|x|z|ch|sh{'|' + also_es if also_es else ''})$", word):
        return word + "es"
    return word + "s"


def _stem(word: str, _: str) -> str:
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "i"
    return word if word[-1] == "e" else _doubled(word)


def _doubled(word: str) -> str:
    """One syllable, one short vowel, one consonant: the consonant doubles (stop -> stopp)."""
    short = re.fullmatch(r"[^aeiou]*(qu)?[aeiou][bdgklmnprt]", word)
    return word + word[-1] if short else word


def _compare(adjective: str, ending: str, word: str) -> str:
    syllables = len(re.findall(r"[aeiouy]+", adjective.removesuffix("e")))
    if " " in adjective or "-" in adjective or (syllables > 1 and not adjective.endswith("y")):
        return f"{word} {adjective}"
    if syllables > 2:
        return f"{word} {adjective}"
    if adjective.endswith("e"):
        return adjective + ending[1:]
    return _stem(adjective, "") + ending
