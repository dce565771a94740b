"""English as people type it: no full stop, no capitals, curly quotes, a letter wrong.

Training pairs get noisy copies, so that the translator is not thrown by such input; the Korean side
stays as it is.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from translator.pairs import Pair

_CONTRACTIONS: Final = {
    "I am": "I'm",
    "do not": "don't",
    "does not": "doesn't",
    "did not": "didn't",
    "is not": "isn't",
    "are not": "aren't",
    "was not": "wasn't",
    "cannot": "can't",
    "will not": "won't",
    "it is": "it's",
    "It is": "It's",
    "he is": "he's",
    "He is": "He's",
    "she is": "she's",
    "She is": "She's",
    "we are": "we're",
    "We are": "We're",
    "they are": "they're",
    "They are": "They're",
    "you are": "you're",
    "You are": "You're",
    "I have been": "I've been",
    "I will": "I'll",
    "Let us": "Let's",
}
_NOT_BEHIND: Final = r"(?<!where )(?<!what )(?<!how )(?<!who )"  # where he is now
_EXPANSIONS: Final = {short: long for long, short in _CONTRACTIONS.items() if short[-2:] != "'s"}
"""Not for 's, which may also be "has" or a possessive."""


_ASKS: Final = re.compile(
    r"^(wh\w+|how|am|are|is|was|were|do|does|did|have|has|had|can|could|will|would|shall|should|may"
    r"|might|must|can't|won't)(n't)?\b",
    re.IGNORECASE,
)


def _drop_final_mark(text: str, _: random.Random) -> str:
    """But not the only sign of a question: Any updates?"""
    return text if text.endswith("?") and not _ASKS.match(text) else text.rstrip(".!?")


def _lower_case(text: str, rng: random.Random) -> str:
    return text.lower() if rng.random() < 0.5 else _drop_final_mark(text, rng).lower()


def _capitals(text: str, _: random.Random) -> str:
    return text.upper()


def _curly_quotes(text: str, _: random.Random) -> str:
    opened = re.sub(r'(^|[\s(])"', "\\1\u201c", text)
    return opened.replace('"', "\u201d").replace("'", "\u2019")


def _other_contraction(text: str, _: random.Random) -> str:
    for long, short in _CONTRACTIONS.items():
        # nor at the end: "Yes, I am."
        found = re.sub(rf"{_NOT_BEHIND}\b{long}\b(?=\s+\w)", short, text)
        if found != text:
            return found
    for short, long in _EXPANSIONS.items():
        followed_by_subject = r"(?!\s*([.!?,]|$|(I|you|he|she|it|we|they|there)\b))"
        found = re.sub(rf"\b{short}\b{followed_by_subject}", long, text)  # not "Why don't you"
        if found != text:
            return found
    return text


def _typo(text: str, rng: random.Random) -> str:
    """One long word loses a letter, doubles one, or has two neighbours swapped."""
    words = [match.span() for match in re.finditer(r"[a-z]{5,}", text)]
    if not words:
        return text
    start, end = rng.choice(words)
    i = rng.randrange(start + 1, end - 1)
    changed = rng.choice((text[i + 1] + text[i], text[i + 1], text[i] * 2 + text[i + 1]))
    return text[:i] + changed + text[i + 2 :]


class Way(NamedTuple):
    """One way in which people type carelessly."""

    name: str
    weight: int  # how often it is drawn; 0 is for what tidy() takes back before the model sees it
    apply: Callable[[str, random.Random], str]  # gives the text itself when there is nothing to do


WAYS: Final = (
    Way("no final mark", 8, _drop_final_mark),
    Way("lower case", 5, _lower_case),
    Way("capitals", 0, _capitals),
    Way("curly quotes", 0, _curly_quotes),
    Way("the other contraction", 6, _other_contraction),
    Way("a letter wrong", 6, _typo),
)


def noisy(text: str, rng: random.Random) -> str:
    """One kind of noise, drawn by weight; the text itself when that kind changes nothing."""
    [way] = rng.choices(WAYS, [way.weight for way in WAYS])
    return way.apply(text, rng) or text


def with_noisy_copies(pairs: Iterable[Pair], share: float, seed: str) -> Iterator[Pair]:
    """The pairs, and behind about this share of them a noisy version if noise changes anything."""
    rng = random.Random(f"noise/{seed}")
    for pair in pairs:
        yield pair
        if rng.random() < share:
            source = noisy(pair.src, rng)
            if source != pair.src:
                yield pair._replace(src=source)
