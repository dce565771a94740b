"""What has to stay as it is travels through the model as a placeholder.

    Call 010-1234-5678 today.      ->  Call <1> today.
    오늘 <1>으로 전화하십시오.     ->  오늘 010-1234-5678로 전화하십시오.

A small model misspells what it has never seen; so it is shown where the thing stands, and not the
thing. Particles follow its sound when it comes back (이/가, 을/를, 으로/로).
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

from translator.copying import ADDRESS
from translator.hangul import PARTICLES, particle
from translator.pairs import Pair
from translator.tokenizer import PLACEHOLDERS

_THING: Final = re.compile(
    ADDRESS
    # numbers and codes; none of 25th, 1990s, 10pm, 12-year-old, which Korean writes otherwise
    + r"|(?<![\w:.,/-])(?:[A-Za-z]-|[A-Z]{2,4}-?|[A-Za-z]{1,4})?\d[\d,./-]*\d[A-Z0-9]*"
    + r"(?![\w:]|[.,/@-]\w)",
    re.ASCII,
)
_NAME_OF: Final = {form: name for name, forms in PARTICLES.items() for form in forms}
_FOLLOWING: Final = "|".join(sorted(_NAME_OF, key=len, reverse=True))
_NAMES: Final = "|".join(PLACEHOLDERS)
_PARTICLE: Final = rf"(?:({_FOLLOWING})(?=(?:는|도|만|요|의|부터)?(?![가-힣])))?"
_SHOWN: Final = re.compile(rf"({_NAMES}){_PARTICLE}")


class Hidden(NamedTuple):
    """A text with placeholders, and what each of them stands for."""

    text: str
    things: Mapping[str, str]  # "<1>" -> "010-1234-5678"


def hide(english: str) -> Hidden:
    """English with placeholders for addresses, codes, and numbers of two digits or more; clock
    times stay, for Korean may write them in words. Beyond the number of placeholders all stay, and
    so they do in a text that has placeholders of its own, which stand for themselves.

    >>> hide("Room B12 costs 45,000 won.")
    Hidden(text='Room <1> costs <2> won.', things={'<1>': 'B12', '<2>': '45,000'})
    """
    own = re.findall(_NAMES, english)
    if own:
        return Hidden(english, {name: name for name in own})
    found = dict.fromkeys(match[0] for match in _THING.finditer(english))
    names = dict(zip(found, PLACEHOLDERS, strict=False))
    text = _THING.sub(lambda match: names.get(match[0], match[0]), english)
    return Hidden(text, {name: thing for thing, name in names.items()})


def hide_pair(pair: Pair) -> Pair:
    """Both sides with placeholders, for training. A thing that the Korean writes otherwise stays on
    both sides.
    """
    things = {
        name: thing
        for name, thing in hide(pair.src).things.items()
        if len(_places(thing, pair.tgt)) == len(_places(thing, pair.src))
    }
    src = pair.src
    for name, thing in things.items():
        src = _pattern(thing).sub(name, src)
    return pair._replace(src=src, tgt=hide_in(pair.tgt, things))


def hide_in(korean: str, things: Mapping[str, str]) -> str:
    """Korean with placeholders for things that its English has. Particles behind a placeholder are
    those that follow a consonant.
    """
    for name, thing in things.items():
        korean = _pattern(thing, particles=True).sub(partial(_canonical, name), korean)
    return korean


def show(korean: str, things: Mapping[str, str]) -> str:
    """Korean with the things themselves, and particles that follow their sound. A placeholder that
    stands for nothing (`invented`) is left out.
    """

    def shown(match: re.Match[str]) -> str:
        thing = things.get(match[1], "")
        if match[2] is None or not thing:
            return thing
        return thing + particle(thing, _NAME_OF[match[2]])

    return " ".join(_SHOWN.sub(shown, korean).split())


def invented(korean: str, things: Mapping[str, str]) -> bool:
    """Whether a placeholder stands for nothing in the source."""
    return any(name not in things for name in re.findall(_NAMES, korean))


def _pattern(thing: str, particles: bool = False) -> re.Pattern[str]:
    """Where a thing stands by itself, and not as a part of a longer one."""
    alone = rf"(?<![\w.,:/@-]){re.escape(thing)}(?![0-9A-Za-z]|[.,:/@-]\w)"
    return re.compile(alone + (_PARTICLE if particles else ""), re.ASCII)


def _places(thing: str, text: str) -> list[str]:
    return [match[0] for match in _pattern(thing).finditer(text)]


def _canonical(name: str, match: re.Match[str]) -> str:
    return name if match[1] is None else name + PARTICLES[_NAME_OF[match[1]]][0]
