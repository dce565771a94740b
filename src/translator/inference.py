"""A trained translator in one object: texts in, translations out, in the same order."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from translator.checkpoint import PRETRAINED, find_checkpoint, load_checkpoint
from translator.config import Config
from translator.decoding import Hypothesis, SearchLimits, Uncached, greedy_search
from translator.errors import UserError
from translator.levels import LEVELS
from translator.model.transformer import AttentionMaps, Transformer
from translator.tokenizer import BOS_ID, EOS_ID, PAD_ID, Tokenizer, TokenizerError, normalize

DEFAULT_STYLE: Final = "formal"


@dataclass(frozen=True, kw_only=True)
class Translation:
    """One translated line and what is known about it."""

    text: str
    score: float  # log-probability in nats
    finished: bool  # False when the length limit cut it off
    ids: tuple[int, ...]  # target tokens, without bos and eos
    pieces: tuple[str, ...]  # the same as SentencePiece writes them
    warnings: tuple[str, ...]  # plain words; empty when nothing looks wrong


BLANK: Final = Translation(text="", score=0.0, finished=True, ids=(), pieces=(), warnings=())


class TooLong(UserError, ValueError):
    """A source has more pieces than the model has positions.

    Args:
        index: which of the texts it is, from 0
        given, most: pieces of the text, and pieces that the model takes
    """

    def __init__(self, index: int, given: int, most: int) -> None:
        super().__init__(f"{given} pieces, but the model takes {most}; split the sentence")
        self.index = index


class Translator:
    """English to Korean with a trained model, its vocabulary and its settings.

    Args:
        model: in evaluation mode; it runs on the device where its weights are
        tokenizer: the vocabulary that the model was trained with
        config: gives the bounds of the search
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, config: Config) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.config = config
        self._limits = SearchLimits(
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            never=tokenizer.never_generated,
            max_len=config.model.max_len,
            length_factor=config.decoding.length_factor,
            length_margin=config.decoding.length_margin,
        )

    @classmethod
    def from_pretrained(
        cls, path: str | Path = PRETRAINED, device: str | torch.device = "cpu"
    ) -> "Translator":
        """Loads a checkpoint file, or `best.pt` of a run directory; without a path (or with
        "pretrained") the model inside the package.

        Raises:
            CheckpointError: missing, damaged or foreign file.
        """
        checkpoint = load_checkpoint(find_checkpoint(path))
        return cls(checkpoint.build_model().to(device), checkpoint.tokenizer, checkpoint.config)

    def translate(
        self, texts: Iterable[str], style: str = DEFAULT_STYLE, *, use_cache: bool = True
    ) -> list[Translation]:
        """Translates each text by itself, whatever stands beside it.

        Args:
            texts: any number of sentences; a blank one gives a blank translation
            style: speech level of the Korean: formal, polite, casual, plain or any
            use_cache: False recomputes everything at each step, slowly, with the same result

        Raises:
            TypeError: one text was given instead of a list, or something that is no text.
            TokenizerError: no such style.
            TooLong: a text is longer than the model allows and `decoding.too_long` is "error".
        """
        if isinstance(texts, str):
            raise TypeError("translate takes a list of texts; for one text write translate([text])")
        texts = list(texts)
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"text {i} is {type(text).__name__}, not str")
        if style not in LEVELS:
            raise TokenizerError(f"unknown style {style!r}; choose from {', '.join(LEVELS)}")
        sources = {
            i: self.tokenizer.encode_source(text, style)
            for i, text in enumerate(texts)
            if normalize(text)
        }
        self._check_lengths(sources)
        results = [BLANK] * len(texts)
        by_length = sorted(sources, key=lambda i: len(sources[i]))
        for indices in _chunks(by_length, self.config.decoding.batch_size):
            found = self._search([sources[i] for i in indices], use_cache)
            for i, hypothesis in zip(indices, found, strict=True):
                results[i] = self._finish(sources[i], hypothesis)
        return results

    def attention_maps(self, text: str, translation: Translation, style: str) -> AttentionMaps:
        """Where all layers and heads looked while `text` became `translation`.

        Returns:
            encoder (L, 1, H, S, S), decoder (L, 1, H, T, T), cross (L, 1, H, T, S). S counts tag
            and eos; row t belongs to the token written at t, the last one to what followed.
        """
        device = self.model.embedding.weight.device
        src = torch.tensor([self._cut(self.tokenizer.encode_source(text, style))], device=device)
        tgt_in = torch.tensor([[BOS_ID, *translation.ids]], device=device)
        return self.model.attention_maps(src, tgt_in)

    def _check_lengths(self, sources: Mapping[int, list[int]]) -> None:
        if self.config.decoding.too_long == "error":
            for i, ids in sources.items():
                if len(ids) > self.config.model.max_len:
                    raise TooLong(i, len(ids) - 2, self.config.model.max_len - 2)

    def _cut(self, ids: list[int]) -> list[int]:
        max_len = self.config.model.max_len
        return ids if len(ids) <= max_len else [*ids[: max_len - 1], EOS_ID]

    def _search(self, sources: Sequence[list[int]], use_cache: bool) -> list[Hypothesis]:
        cut = [self._cut(ids) for ids in sources]
        lengths = [len(ids) for ids in cut]
        rows = [ids + [PAD_ID] * (max(lengths) - len(ids)) for ids in cut]
        src = torch.tensor(rows, device=self.model.embedding.weight.device)  # (B, S)
        if use_cache:
            return greedy_search(self.model, src, lengths, self._limits)
        return greedy_search(Uncached(self.model), src, lengths, self._limits)

    def _finish(self, src: Sequence[int], hypothesis: Hypothesis) -> Translation:
        warnings = list(_suspicions(len(src) - 2, hypothesis))
        if len(src) > self.config.model.max_len:
            kept, given = self.config.model.max_len - 2, len(src) - 2
            warnings.insert(
                0, f"only the first {kept} of {given} pieces were translated; split the sentence"
            )
        return Translation(
            text=self.tokenizer.decode(hypothesis.ids),
            score=hypothesis.score,
            finished=hypothesis.finished,
            ids=tuple(hypothesis.ids),
            pieces=tuple(self.tokenizer.pieces(hypothesis.ids)),
            warnings=tuple(warnings),
        )


def _suspicions(n_source: int, hypothesis: Hypothesis) -> Iterator[str]:
    """Signs of a translation gone wrong: it loops, is empty or far too long, or never ended."""
    ids = hypothesis.ids
    fours = Counter(zip(ids, ids[1:], ids[2:], ids[3:], strict=False))
    if fours and max(fours.values()) >= 4:
        yield "a phrase repeats itself"
    if not ids:
        yield "nothing was written"
    if len(ids) > 3 * max(n_source, 3):
        yield "much longer than the source"
    if not hypothesis.finished:
        yield "cut off at the length limit"


def _chunks(items: Sequence[int], size: int) -> Iterable[Sequence[int]]:
    return (items[start : start + size] for start in range(0, len(items), size))
