"""HTML in which the text is translated and everything else stays as it was."""

from collections.abc import Sequence
from html import escape
from html.parser import HTMLParser
from typing import Final

UNTRANSLATED: Final = frozenset({"script", "style", "code"})


class Markup(HTMLParser):
    """HTML cut into text and the rest. A piece of text ends at every tag, so words inside `<b>` are
    translated by themselves.

    Args:
        html: anything; what is no HTML is text
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str | None] = []  # None: the next text stands here
        self._texts: list[str] = []
        self._data: list[str] = []
        self._inside: list[str] = []  # of elements that are left alone
        self.feed(html)
        self.close()
        self._end_text()

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

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        """Kept as it was written."""
        self._keep(self.get_starttag_text() or "")
        if tag in UNTRANSLATED:
            self._inside.append(tag)

    def handle_startendtag(self, _: str, __: list[tuple[str, str | None]]) -> None:
        """Kept as it was written."""
        self._keep(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        """Kept."""
        self._keep(f"</{tag}>")
        if tag in self._inside:
            self._inside.remove(tag)

    def handle_data(self, data: str) -> None:
        """Translated, unless it is blank or code; the parser gives a text in pieces."""
        self._data.append(data)

    def handle_comment(self, data: str) -> None:
        """Kept."""
        self._keep(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        """Kept."""
        self._keep(f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        """Kept."""
        self._keep(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        """Kept."""
        self._keep(f"<![{data}]>")

    def _keep(self, part: str) -> None:
        self._end_text()
        self._parts.append(part)

    def _end_text(self) -> None:
        data = "".join(self._data)
        self._data = []
        if self._inside and self._inside[-1] in {"script", "style"}:
            self._parts.append(data)  # as it is: no character references in there
        elif self._inside or not data.strip():
            self._parts.append(escape(data, quote=False))
        else:
            self._parts.append(None)
            self._texts.append(data)
