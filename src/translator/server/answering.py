"""Questions to answers, in plain values: what the server knows of translating, without HTTP."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from translator.documents import (
    NotOneSentence,
    TooLongForOne,
    TranslatedLine,
    check_one_sentence,
    translate_lines,
)
from translator.inference import Translator
from translator.looking import Looking
from translator.plain import looking_as_dict, trace_as_dict
from translator.server.batching import Batcher, Manner
from translator.server.language import detect, may_be_english
from translator.server.limits import Limits
from translator.server.markup import Markup
from translator.server.messages import TraceQuestion, TranslateQuestion
from translator.server.reading import Refused, check_size
from translator.tracing import trace


@dataclass(frozen=True)
class _Text:
    """One text of a question: the lines to translate, and how they become a text again."""

    lines: Sequence[str]
    join: Callable[[Sequence[str]], str]


class Answers:
    """Translates for many at a time.

    Args:
        translator: used in one thread only
        limits: of a request, and of all that wait
    """

    def __init__(self, translator: Translator, limits: Limits) -> None:
        self._translator = translator
        self.limits = limits
        self._batcher = Batcher(
            self._translate_lines, most_waiting=limits.waiting, most_together=limits.together
        )

    def stop(self) -> None:
        """Lets nobody wait any more; what is at hand is finished."""
        self._batcher.stop()

    def close(self) -> None:
        """Stops, and waits for what is at hand."""
        self._batcher.close()

    async def translate(self, question: TranslateQuestion) -> dict[str, Any]:
        """An answer as LibreTranslate gives it.  Raises Refused or Busy."""
        many = isinstance(question.q, list)
        given = question.q if isinstance(question.q, list) else [question.q]
        check_size(given, self.limits)
        self._check(question, given)
        texts = [_html(text) if question.format == "html" else _plain(text) for text in given]
        manner = Manner(question.level, question.alternatives + 1)
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
            answer["detectedLanguage"] = [detect(text)._asdict() for text in given]
        if question.attention:
            answer["attention"] = await self._batcher.run(
                lambda: [list(self._attention(found, question.level)) for found in results]
            )
        return answer if many else {name: values[0] for name, values in answer.items()}

    async def trace(self, question: TraceQuestion) -> dict[str, Any]:
        """One sentence, step by step.  Raises Refused or Busy."""
        check_size([question.q], self.limits)
        try:
            check_one_sentence(self._translator, question.q)
        except NotOneSentence as error:
            status = 413 if isinstance(error, TooLongForOne) else 400
            raise Refused(status, f"q: {error}") from None
        return await self._batcher.run(
            lambda: trace_as_dict(trace(self._translator, question.q, question.level))
        )

    def _check(self, question: TranslateQuestion, given: Sequence[str]) -> None:
        if question.alternatives > self.limits.alternatives:
            raise Refused(400, f"alternatives: at most {self.limits.alternatives}")
        if question.attention and question.format == "html":
            raise Refused(400, "attention: only with format text")
        if question.source == "auto" and not all(map(may_be_english, given)):
            raise Refused(400, "source: the text is not English, the only language translated")

    def _translate_lines(self, lines: Sequence[str], manner: Manner) -> list[TranslatedLine]:
        options = self._translator.config.decoding
        options = replace(
            options,
            beam_size=max(options.beam_size, manner.n_best),
            n_best=manner.n_best,
            too_long="split",
        )
        return translate_lines(self._translator, lines, manner.style, options)

    def _attention(self, lines: Sequence[TranslatedLine], level: str) -> Iterator[dict[str, Any]]:
        for line in lines:
            for source, part in zip(line.sources, line.parts, strict=True):
                looking = Looking(self._translator, source, part, level)
                yield {"text": source, "translation": part.text} | looking_as_dict(looking)


def _plain(text: str) -> _Text:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return _Text(lines, "\n".join)


def _html(text: str) -> _Text:
    markup = Markup(text)
    return _Text(markup.texts, markup.with_texts)


def _alternatives(text: _Text, lines: Sequence[TranslatedLine], most: int) -> Iterator[str]:
    """The n-th best of every line together; a line that has no more keeps its last."""
    found = [[line.text, *(other for other, _ in line.alternatives())] for line in lines]
    depth = max(map(len, found), default=0)
    for n in range(1, min(depth, most + 1)):
        yield text.join([texts[min(n, len(texts) - 1)] for texts in found])
