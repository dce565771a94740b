"""The one place that loads kiwipiepy, an extra that only building the corpus needs."""

from collections.abc import Sequence
from typing import Any, Final

from translator.errors import UserError

_RIEUL: Final = 8  # the number of ㄹ among the final consonants


def load_kiwi() -> Any:
    """The Korean morphological analyser; takes a second.  Raises UserError when it is missing."""
    try:
        from kiwipiepy import Kiwi
    except ImportError:
        raise UserError(
            "this step needs kiwipiepy; install it with: pip install 'translator[corpus]'"
        ) from None
    return Kiwi()


def with_ni(kiwi: Any, morphemes: Sequence[tuple[str, str]]) -> str:
    """A stem with the plain question ending -니, which kiwipiepy confuses with -(으)니.

    -고 attaches like it, but for a final ㄹ, which drops: 맞고 -> 맞니, 알고 -> 아니.
    """
    stem = str(kiwi.join([*morphemes, ("고", "EC")]))[:-1]
    ends_in_rieul = (ord(stem[-1]) - ord("가")) % 28 == _RIEUL
    return (stem[:-1] + chr(ord(stem[-1]) - _RIEUL) if ends_in_rieul else stem) + "니"
