"""Loads kiwipiepy, the Korean morphological analyser that building the corpus needs."""

from collections.abc import Sequence
from typing import Any

from translator.errors import UserError, lacks
from translator.hangul import final_sound, without_final


def load_kiwi() -> Any:
    """The Korean morphological analyser; takes a second.  Raises UserError when it is missing."""
    try:
        from kiwipiepy import Kiwi
    except ImportError:
        raise UserError(lacks("this step needs kiwipiepy", "corpus")) from None
    return Kiwi()


def with_ni(kiwi: Any, morphemes: Sequence[tuple[str, str]]) -> str:
    """A stem with the plain question ending -니, which kiwipiepy confuses with -(으)니.

    -고 attaches like it, but for a final ㄹ, which drops: 맞고 -> 맞니, 알고 -> 아니.
    """
    stem = str(kiwi.join([*morphemes, ("고", "EC")]))[:-1]
    return (without_final(stem) if final_sound(stem[-1]) == "ㄹ" else stem) + "니"
