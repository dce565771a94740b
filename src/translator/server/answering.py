"""Questions to answers, in plain values: what the server knows of translating, without
requests and responses."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from translator.as_json import looking_as_dict, trace_as_dict
from translator.documents import (
    NotOneSentence,
    TooLongForOne,
    TranslatedLine,
    check_one_sentence,
    translate_lines,
)
from translator.errors import UserError
from translator.inference import Translator
from translator.levels import DEFAULT_STYLE
from translator.looking import Looking
from translator.server.batching import Batcher, Manner
from translator.server.language import detect, may_be_english
from translator.server.limits import Limits
from translator.server.markup import Markup
from translator.server.messages import TraceQuestion, TranslateQuestion
from translator.server.reading import Refused, check_size
from translator.tracing import trace

SHOWS_NOTHING: Final = (
    "this server has an exported model, which does not show what happens inside; "
    "ask one that serves the checkpoint"
)


@dataclass(frozen=True)
class _Text:
    """One text of a question: the lines to translate, and how they become a text again."""

    lines: Sequence[str]
    join: Callable[[Sequence[str]], str]

    @property
    def content(self) -> str:
        """What there is to translate, without tags."""
        return "\n".join(self.lines)


class Answers:
    """Translates for many at a time, in a thread that runs from here on until `close`.

    Args:
        translator: used in that thread only
        limits: of a request, and of all that wait
        level: the speech level where a question names none
    """

    def __init__(self, translator: Translator, limits: Limits, level: str = DEFAULT_STYLE) -> None:
        self._translator = translator
        self.limits = limits
        self.level = level
        self._batcher = Batcher(
            self._translate_lines,
            most_waiting=limits.waiting,
            most_together=limits.together,
            most_characters=limits.characters_together,
        )

    @property
    def can_look(self) -> bool:
        """Whether the model shows attention and steps; an exported one does not."""
        try:
            _ = self._translator.model
        except UserError:
            return False
        return True

    def stop(self) -> None:
        """Takes no new questions and refuses those waiting; what is at hand is finished."""
        self._batcher.stop()

    def close(self) -> None:
        """Stops, and waits for what is at hand."""
        self._batcher.close()

    async def translate(self, question: TranslateQuestion) -> dict[str, Any]:
        """An answer as LibreTranslate gives it.

        Raises:
            Refused: the question cannot be answered as it is.
            Busy: too many are waiting, or the server stops.
            UserError: what the translator refuses.
        """
        many = isinstance(question.q, list)
        given = question.q if isinstance(question.q, list) else [question.q]
        check_size(given, self.limits)
        read = _from_html if question.format == "html" else _from_lines
        texts = [read(text) for text in given]
        self._check(question, texts)
        level = question.level or self.level
        manner = Manner(level, question.alternatives + 1)
        lines = [line for text in texts for line in text.lines]
        done = iter(await self._batcher.translate(lines, manner) if lines else [])
        results = [[next(done) for _ in text.lines] for text in texts]
        answer: dict[str, Any] = {
            "translatedText": [
                text.join([line.text for line in found])
                for text, found in zip(texts, results, strict=True)
            ],
            "warnings": [[w for line in found for w in line.warnings] for found in results],
        }
        if question.alternatives:
            answer["alternatives"] = [
                list(_alternatives(text, found, question.alternatives))
                for text, found in zip(texts, results, strict=True)
            ]
        if question.source == "auto":
            answer["detectedLanguage"] = [detect(text.content).model_dump() for text in texts]
        if question.attention:
            answer["attention"] = await self._batcher.run(
                lambda: [list(self._attention(found, level)) for found in results]
            )
        return answer if many else {name: values[0] for name, values in answer.items()}

    async def trace(self, question: TraceQuestion) -> dict[str, Any]:
        """One sentence, step by step.  Raises as `translate`."""
        check_size([question.q], self.limits)
        if not self.can_look:
            raise Refused(400, SHOWS_NOTHING)
        try:
            check_one_sentence(self._translator, question.q)
        except NotOneSentence as error:
            status = 413 if isinstance(error, TooLongForOne) else 400
            raise Refused(status, f"q: {error}") from None
        level = question.level or self.level
        return await self._batcher.run(
            lambda: trace_as_dict(trace(self._translator, question.q, level))
        )

    def _check(self, question: TranslateQuestion, texts: Sequence[_Text]) -> None:
        if question.alternatives > self.limits.alternatives:
            raise Refused(400, f"alternatives: at most {self.limits.alternatives}")
        if question.attention and question.format == "html":
            raise Refused(400, "attention: only with format text")
        if question.attention and not self.can_look:
            raise Refused(400, f"attention: {SHOWS_NOTHING}")
        if question.source == "auto" and not all(may_be_english(text.content) for text in texts):
            raise Refused(400, "source: the text is not English, the only language translated")

    def _translate_lines(self, lines: Sequence[str], manner: Manner) -> list[TranslatedLine]:
        options = self._translator.config.decoding.asked(n_best=manner.n_best)
        options = replace(options, too_long="split")
        return translate_lines(self._translator, lines, manner.style, options)

    def _attention(self, lines: Sequence[TranslatedLine], level: str) -> Iterator[dict[str, Any]]:
        for line in lines:
            for source, part in zip(line.sources, line.parts, strict=True):
                looking = Looking(self._translator, source, part, level)
                yield {"text": source, "translation": part.text} | looking_as_dict(looking)


def _from_lines(text: str) -> _Text:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return _Text(lines, "\n".join)


def _from_html(text: str) -> _Text:
    markup = Markup(text)
    return _Text(markup.texts, markup.with_texts)


def _alternatives(text: _Text, lines: Sequence[TranslatedLine], most: int) -> Iterator[str]:
    """The n-th best of every line together; a line that has no more keeps its last."""
    found = [[line.text, *(other for other, _ in line.alternatives)] for line in lines]
    depth = max(map(len, found), default=0)
    for n in range(1, min(depth, most + 1)):
        yield text.join([texts[min(n, len(texts) - 1)] for texts in found])
