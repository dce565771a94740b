"""Lines of text, each of which may hold several sentences: split, translated, joined again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from translator.config import DecodingConfig
from translator.errors import UserError
from translator.inference import Translator
from translator.levels import DEFAULT_STYLE
from translator.pairs import Pair
from translator.segments import split_clauses, split_sentences
from translator.tokenizer import normalize
from translator.translation import TooLong, Translation


class Alternative(NamedTuple):
    """Another translation of a line, and its log-probability in nats."""

    text: str
    score: float


@dataclass(frozen=True, kw_only=True)
class TranslatedLine:
    """One line of the input and what came of it."""

    source: str
    text: str  # the best translations of its parts, a space between two
    sources: tuple[str, ...]  # the sentences of the line; none when it was blank
    parts: tuple[Translation, ...]  # one for each sentence
    warnings: tuple[str, ...]

    @property
    def score(self) -> float:
        """Log-probability in nats of all parts together."""
        return sum(part.score for part in self.parts)

    @property
    def finished(self) -> bool:
        """Whether every part ended by itself."""
        return all(part.finished for part in self.parts)

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Other translations of the line: the n-th best of every part together, or of a part that
        has fewer its last.
        """
        depth = max((len(part.alternatives) for part in self.parts), default=0)
        found = []
        for n in range(depth):
            chosen = [[part, *part.alternatives][: n + 2][-1] for part in self.parts]
            joined = " ".join(part.text for part in chosen if part.text)
            found.append(Alternative(joined, sum(part.score for part in chosen)))
        return tuple(found)


class NotOneSentence(UserError, ValueError):
    """A text is blank, or several sentences."""


class TooLongForOne(NotOneSentence):
    """A sentence is longer than what is translated in one piece."""


def check_one_sentence(translator: Translator, text: str) -> None:
    """For what looks inside one translation.  Raises NotOneSentence."""
    sentences = [part for part in split_sentences(text) if normalize(part)]
    if not sentences:
        raise NotOneSentence("there is no text")
    if len(sentences) > 1:
        raise NotOneSentence(f"{len(sentences)} sentences; look at one at a time")
    if not translator.fits(text):
        most = translator.most_pieces(translator.config.decoding)
        raise TooLongForOne(
            f"the sentence has {translator.n_pieces(text)} pieces; at most {most} can be looked at "
            "(decoding.split_above or model.max_len): look at a part of it"
        )


def translate_lines(
    translator: Translator,
    lines: Iterable[str],
    style: str = DEFAULT_STYLE,
    options: DecodingConfig | None = None,
    *,
    use_cache: bool = True,
) -> list[TranslatedLine]:
    """One result for each line, in order; a blank line stays blank.

    All sentences of all lines are translated together. A sentence with more pieces than the model
    has positions, or than `split_above`, is split at clause marks when `too_long` is "split", and a
    warning says so.

    Raises:
        TypeError: one line was given instead of a list.
        TooLong: a sentence is too long and `too_long` is "error"; its index is that of the line.
    """
    if isinstance(lines, str):
        raise TypeError("translate_lines takes a list of lines; for one write [line]")
    lines = list(lines)
    options = options or translator.config.decoding
    parts: list[list[str]] = []
    notes: list[list[str]] = []
    for line in lines:
        split = [_split(translator, sentence, options) for sentence in split_sentences(line)]
        parts.append([part for sentence in split for part in sentence])
        notes.append(list(_split_notes(split)))
    texts = [part for found in parts for part in found]
    try:
        done = translator.translate(texts, style, options=options, use_cache=use_cache)
    except TooLong as error:
        owners = [number for number, found in enumerate(parts) for _ in found]
        raise error.at(owners[error.index]) from None
    translated = iter(done)
    results = []
    for line, found, notices in zip(lines, parts, notes, strict=True):
        own = tuple(next(translated) for _ in found)
        found_warnings = (warning for part in own for warning in part.warnings)
        warnings = tuple(dict.fromkeys((*notices, *found_warnings)))
        text = " ".join(part.text for part in own if part.text)
        results.append(
            TranslatedLine(
                source=line, text=text, sources=tuple(found), parts=own, warnings=warnings
            )
        )
    return results


def asked_level(pair: Pair) -> str:
    """The level at which the English of a pair is translated: that of its Korean, or the default
    where that shows none.
    """
    return DEFAULT_STYLE if pair.level == "any" else pair.level


def translate_pairs(
    translator: Translator, pairs: Sequence[Pair], options: DecodingConfig | None = None
) -> list[TranslatedLine]:
    """What a translator makes of the English of pairs, each at its `asked_level`.

    Raises:
        TooLong: as `translate_lines`; its index is that of the pair.
    """
    levels = [asked_level(pair) for pair in pairs]
    found: dict[int, TranslatedLine] = {}
    for level in sorted(set(levels)):
        places = [i for i, asked in enumerate(levels) if asked == level]
        try:
            lines = translate_lines(translator, [pairs[i].src for i in places], level, options)
        except TooLong as error:
            raise error.at(places[error.index]) from None
        found.update(zip(places, lines, strict=True))
    return [found[i] for i in range(len(pairs))]


def _split(translator: Translator, sentence: str, options: DecodingConfig) -> list[str]:
    if not normalize(sentence):
        return []
    if options.too_long != "split":
        return [sentence]
    return split_clauses(sentence, lambda part: translator.fits(part, options))


def _split_notes(found: Sequence[Sequence[str]]) -> Iterator[str]:
    for parts in found:
        if len(parts) > 1:
            yield f"a long sentence was translated in {len(parts)} parts"
