"""How much a server takes at once; a request above a limit is refused, not cut short."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of one request and of the queue of waiting ones."""

    characters: int = 2000  # of all texts of a request together
    texts: int = 200  # in one request
    alternatives: int = 9
    waiting: int = 256  # requests in the queue; the next is answered with 503
    together: int = 64  # lines of several requests translated side by side
    characters_together: int = 4000  # of those lines, times the translations wanted of each
    seconds_to_send: float = 10.0  # for the head of a request to arrive, and for its body

    @property
    def body_bytes(self) -> int:
        """Of a request's body; a character takes at most 12 bytes, percent-encoded or as two JSON
        escapes.
        """
        return 12 * self.characters + 16 * self.texts + 4096
