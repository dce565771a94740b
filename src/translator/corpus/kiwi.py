"""The one place that loads kiwipiepy, an extra that only building the corpus needs."""

from typing import Any

from translator.errors import UserError


def load_kiwi() -> Any:
    """The Korean morphological analyser; takes a second.  Raises UserError when it is missing."""
    try:
        from kiwipiepy import Kiwi
    except ImportError:
        raise UserError(
            "this step needs kiwipiepy; install it with: pip install 'translator[corpus]'"
        ) from None
    return Kiwi()
