"""How text stands in a terminal: its width, padding, and what may be printed at all."""

import json
import re
import unicodedata
from typing import Any


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON with its letters as they are, but nothing that a terminal would obey."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return re.sub("[\x7f-\x9f]", lambda match: f"\\u{ord(match[0]):04x}", text)


def width(text: str) -> int:
    """Terminal columns that a text takes: two for wide characters, none for combining marks."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def padded(text: str, size: int) -> str:
    """The text with spaces behind it up to `size` terminal columns."""
    return text + " " * (size - width(text))


def printable(label: str) -> str:
    """Nothing that a terminal would obey or that has no picture."""
    return "".join("?" if unicodedata.category(c) in {"Cc", "Cf", "Cs"} else c for c in label)
