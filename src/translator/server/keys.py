"""Who may ask: everybody, or those who know one of the keys."""

import hmac
import os
from collections.abc import Collection
from pathlib import Path

from translator.errors import UserError


class Keys:
    """The API keys of a server; none means that no key is needed."""

    def __init__(self, keys: Collection[str] = ()) -> None:
        self._keys = [key.encode() for key in keys]

    @classmethod
    def from_file(cls, path: str | Path) -> "Keys":
        """One key a line; blank lines and those that begin with # are skipped.

        Raises:
            UserError: the file cannot be read or has no key.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise UserError(f"{path}: not UTF-8; save it as UTF-8") from None
        lines = (line.strip() for line in text.split("\n"))
        keys = [line for line in lines if line and not line.startswith("#")]
        if not keys:
            raise UserError(f"{path}: no key in it; write one a line")
        return cls(keys)

    @classmethod
    def from_environment(cls, name: str) -> "Keys":
        """The key in an environment variable; where it is not set, no key is needed.

        Raises:
            UserError: it is empty, which would open the server to everybody, or not UTF-8.
        """
        if name not in os.environ:
            return cls()
        key = os.environ[name].strip()
        if not key:
            raise UserError(f"{name}: empty; write a key into it, or unset it if none is needed")
        try:
            return cls([key])
        except UnicodeEncodeError:
            raise UserError(f"{name}: not UTF-8; choose another key") from None

    @property
    def required(self) -> bool:
        """Whether a key is needed."""
        return bool(self._keys)

    def accept(self, key: str | None) -> bool:
        """Whether this is one of the keys; how long that takes tells nothing about them."""
        if not self._keys:
            return True
        given = (key or "").encode("utf-8", "replace")
        return any([hmac.compare_digest(given, known) for known in self._keys])  # noqa: C419
