"""How much a server takes at once; what is above is refused, not cut."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of one request and of the line of waiting ones."""

    characters: int = 2000  # of all texts of a request together
    texts: int = 200  # in one request
    alternatives: int = 9
    waiting: int = 256  # requests in line; the next is answered with 503
    together: int = 64  # sentences translated side by side
    seconds_to_send: float = 10.0  # for a request's body to arrive

    @property
    def body_bytes(self) -> int:
        """A character takes at most 12 bytes, as percent-encoding or as two JSON escapes."""
        return 12 * self.characters + 16 * self.texts + 4096
