"""HTML in which the text is translated and everything else stays as it was."""

import re
from collections.abc import Sequence
from html import escape, unescape
from typing import Final

_COMMENT: Final = r"<!--.*?(?:-->|\Z)"
_LEFT_ALONE: Final = r"<(script|style|code)\b[^<>]*>.*?(?:</\1\s*>|\Z)"
_TAG: Final = r"""<[a-z/!?](?:[^<>"']|"[^"<]*"|'[^'<]*')*>"""
_KEPT: Final = re.compile(f"{_COMMENT}|{_LEFT_ALONE}|{_TAG}", re.DOTALL | re.IGNORECASE)
"""Tags, comments, and elements with everything in them. None looks beyond the next `<` for its end
but those that go on to the end of the text without one, so that reading stays linear.
"""


class Markup:
    """HTML cut into text and the rest, which is kept to the letter. A piece of text ends at every
    tag, so words inside `<b>` are translated by themselves.

    Args:
        html: anything; what is no tag is text
    """

    def __init__(self, html: str) -> None:
        self._parts: list[str | None] = []  # None: the next text stands here
        self._texts: list[str] = []
        position = 0
        for kept in _KEPT.finditer(html):
            self._add_text(html[position : kept.start()])
            self._parts.append(kept[0])
            position = kept.end()
        self._add_text(html[position:])

    @property
    def texts(self) -> list[str]:
        """What can be translated, without spaces around it."""
        return [text.strip() for text in self._texts]

    def with_texts(self, texts: Sequence[str]) -> str:
        """The HTML with other texts, which are escaped.  As many as there are in `texts`."""
        replacements = iter(zip(self._texts, texts, strict=True))
        found = []
        for part in self._parts:
            if part is not None:
                found.append(part)
                continue
            old, new = next(replacements)
            start = old[: len(old) - len(old.lstrip())]
            end = old[len(old.rstrip()) :]
            found.append(start + escape(new, quote=False) + end)
        return "".join(found)

    def _add_text(self, raw: str) -> None:
        text = unescape(raw)
        if text.strip():
            self._parts.append(None)
            self._texts.append(text)
        else:
            self._parts.append(raw)
