"""A trained translator in one object: texts in, translations out, in the same order."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import torch
from torch import nn

from translator.checkpoint import PRETRAINED, CheckpointError, find_checkpoint, load_checkpoint
from translator.config import Config, DecodingConfig
from translator.copying import lost
from translator.decoding import Hypothesis, SearchLimits
from translator.engine import Engine, EngineError, TorchEngine
from translator.exported import ExportedModel, is_exported, load_exported
from translator.hardware import choose_device
from translator.levels import DEFAULT_STYLE
from translator.model.transformer import AttentionMaps, Transformer
from translator.placeholders import Hidden, hide, hide_in, invented, show
from translator.tokenizer import BOS_ID, EOS_ID, Tokenizer, normalize
from translator.translation import BLANK, TooLong, Translation, suspicions

_ENGLISH: Final = re.compile("[A-Za-z]")
_MARKUP: Final = re.compile(r"</?[A-Za-z][^<>]*>|&(?:[a-z]+|#\d+);")


class Translator:
    """English to Korean with a trained model, its vocabulary and its settings.

    Args:
        model: in evaluation mode; it runs on the device where its weights are
        tokenizer: the vocabulary that the model was trained with
        config: gives the bounds of the search

    The weights are laid out for decoding at the first translation, and again when they or a layer
    have been changed; only changes through `weight.data` and by a fused optimizer on the CPU leave
    no trace, so make a new one then.

    Raises:
        TypeError, ValueError: no model of this package, or one of another vocabulary.
    """

    def __init__(
        self, model: Transformer | ExportedModel, tokenizer: Tokenizer, config: Config
    ) -> None:
        is_other = isinstance(model, nn.Module) or not hasattr(model, "search")
        if is_other and not isinstance(model, Transformer):
            name = type(model).__name__
            raise TypeError(f"model: expected a Transformer or an exported model, got {name}")
        if isinstance(model, Transformer) and len(model.embedding.weight) != tokenizer.vocab_size:
            raise ValueError(
                f"the model has {len(model.embedding.weight)} pieces, the tokenizer "
                f"{tokenizer.vocab_size}"
            )
        self._engine: Engine = TorchEngine(model) if isinstance(model, Transformer) else model
        self.tokenizer = tokenizer
        self.config = config

    @property
    def model(self) -> Transformer:
        """The weights.  Raises EngineError: an exported model keeps them to itself."""
        if isinstance(self._engine, TorchEngine):
            return self._engine.model
        raise EngineError(
            "an exported model shows neither weights nor attention; load the checkpoint instead"
        )

    @classmethod
    def from_pretrained(
        cls, path: str | Path = PRETRAINED, device: str | torch.device = "cpu"
    ) -> "Translator":
        """Loads a checkpoint file, or `best.pt` of a run directory; without a path (or with
        "pretrained") the model inside the package; or a directory that `export_model` wrote.

        Raises:
            CheckpointError: missing, damaged or foreign file.
            ExportError: a damaged export, or CTranslate2 is not installed.
            EngineError: a device for an export, which runs on the CPU.
            HardwareError: no such device on this machine.
        """
        if is_exported(path):
            if str(device) not in {"cpu", "auto"}:
                raise EngineError(
                    f"device: an exported model runs on the CPU, not on {device}; load the "
                    "checkpoint for that"
                )
            exported = load_exported(path)
            return cls(exported.model, exported.tokenizer, exported.config)
        file = find_checkpoint(path)
        checkpoint = load_checkpoint(file)
        try:
            model = checkpoint.build_model()
        except CheckpointError as error:
            raise CheckpointError(f"{file}: {error}") from None
        model = model.to(choose_device(str(device), "device"))
        return cls(model, checkpoint.tokenizer, checkpoint.config)

    def translate(
        self,
        texts: Iterable[str],
        style: str = DEFAULT_STYLE,
        *,
        options: DecodingConfig | None = None,
        prefixes: Sequence[str] = (),
        use_cache: bool = True,
    ) -> list[Translation]:
        """Translates each text by itself, whatever stands beside it.

        Args:
            texts: any number of sentences; a blank one gives a blank translation. One that is too
                long is cut and says so: only `translate_lines` splits
            style: speech level of the Korean: formal, polite, casual, plain or any
            options: how to search; None is as the model's config says (greedy by default)
            prefixes: Korean with which each translation has to begin, one for each text
            use_cache: False recomputes everything at each step, slowly, with the same result

        Raises:
            TypeError: one text was given instead of a list, or something that is no text.
            ValueError: as many prefixes as texts are needed.
            TokenizerError: no such style.
            EngineError: the options ask for what this device cannot do.
            ExportError: they, or `use_cache`, ask for what an exported model cannot do.
            TooLong: a text is longer than the model allows and `too_long` is "error".
        """
        texts = _checked(texts)
        self.tokenizer.tag(style)  # there has to be such a style even if there is no text
        if isinstance(prefixes, str):
            raise TypeError("prefixes: expected one for each text in a list, got a single text")
        if prefixes and len(prefixes) != len(texts):
            raise ValueError(f"{len(prefixes)} prefixes for {len(texts)} texts")
        options = options or self.config.decoding
        hidden = [self.hidden(text) for text in texts]
        sources = {
            i: self.tokenizer.encode_source(text, style)
            for i, (text, _) in enumerate(hidden)
            if text
        }
        self._check_lengths(sources, options)
        begin = {
            i: self.tokenizer.encode(hide_in(prefixes[i], hidden[i].things))
            for i in (sources if prefixes else ())
        }
        results = [BLANK] * len(texts)
        limits = self.limits(options)
        # the same text can come in several ways of cutting it into pieces, so more are looked at
        wide = options if options.n_best == 1 else replace(options, n_best=options.beam_size)
        by_length = sorted(sources, key=lambda i: len(sources[i]))
        for indices in _chunks(by_length, options.batch_size):
            cut = [self._cut(sources[i]) for i in indices]
            prefix_ids = [begin[i] for i in indices] if begin else []
            found = self._engine.search(cut, prefix_ids, limits, wide, use_cache)
            for i, hypotheses in zip(indices, found, strict=True):
                ranked = (
                    self._finish(texts[i], hidden[i].things, sources[i], hypothesis)
                    for hypothesis in hypotheses
                )
                best, *others = _different(ranked)[: options.n_best]
                results[i] = replace(best, alternatives=tuple(others))
        return results

    def fits(self, text: str, options: DecodingConfig | None = None) -> bool:
        """Whether a text has no more pieces than the model has positions, and than `split_above`
        wants to see in one sentence.
        """
        return self.n_pieces(text) <= self.most_pieces(options or self.config.decoding)

    def n_pieces(self, text: str) -> int:
        """Of a source, without its tag and end."""
        return len(self.tokenizer.encode_source(self.hidden(text).text, DEFAULT_STYLE)) - 2

    def most_pieces(self, options: DecodingConfig) -> int:
        """Of a source that is translated in one piece."""
        most = self.config.model.max_len - 2  # tag and eos
        return min(most, options.split_above) if options.split_above else most

    def describe(self, options: DecodingConfig | None = None) -> str:
        """What computes the translations: library, device, number format, threads."""
        return self._engine.describe(options or self.config.decoding)

    def encode_source(self, text: str, style: str) -> list[int]:
        """What the encoder reads of a text: tag, pieces and eos, at most `max_len` ids."""
        return self._cut(self.tokenizer.encode_source(self.hidden(text).text, style))

    def attention_maps(self, text: str, translation: Translation, style: str) -> AttentionMaps:
        """Where all layers and heads looked while `text` became `translation`.

        Returns:
            encoder (L, 1, H, S, S), decoder (L, 1, H, T, T), cross (L, 1, H, T, S). S counts tag
            and eos; row t belongs to the token written at t, the last one to what followed.
        """
        device = self.model.embedding.weight.device
        src = torch.tensor([self.encode_source(text, style)], device=device)
        tgt_in = torch.tensor([[BOS_ID, *translation.ids]], device=device)
        return self.model.attention_maps(src, tgt_in)

    def _check_lengths(self, sources: Mapping[int, list[int]], options: DecodingConfig) -> None:
        if options.too_long == "error":
            for i, ids in sources.items():
                if len(ids) > self.config.model.max_len:
                    raise TooLong(i, len(ids) - 2, self.config.model.max_len - 2)

    def _cut(self, ids: list[int]) -> list[int]:
        max_len = self.config.model.max_len
        return ids if len(ids) <= max_len else [*ids[: max_len - 1], EOS_ID]

    def limits(self, options: DecodingConfig) -> SearchLimits:
        """What a search with these options may write."""
        return SearchLimits(
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            never=self.tokenizer.never_generated,
            max_len=self.config.model.max_len,
            length_factor=options.length_factor,
            length_margin=options.length_margin,
            min_tokens=options.min_tokens,
            no_repeat_ngram=options.no_repeat_ngram,
        )

    def hidden(self, text: str) -> Hidden:
        """A text as the model sees it, with placeholders if its vocabulary has them."""
        text = normalize(text)
        return hide(text) if self.tokenizer.has_placeholders else Hidden(text, {})

    def _finish(
        self, source: str, things: Mapping[str, str], src: Sequence[int], hypothesis: Hypothesis
    ) -> Translation:
        warnings = list(suspicions(len(src) - 2, hypothesis))
        text = self.tokenizer.decode(hypothesis.ids)
        if self.tokenizer.has_placeholders:
            if invented(text, things):
                warnings.append("a number or address that the source lacks was left out")
            text = show(text, things)
        source = normalize(source)
        if _MARKUP.search(source):
            warnings.append("the source has tags or entities, which are not text")
        if not _ENGLISH.search(source) and any(map(str.isalpha, source)):
            warnings.append("the source has no English letters")
        missing = lost(source, text)
        if missing:
            warnings.append(f"not carried over: {', '.join(missing)}")
        if len(src) > self.config.model.max_len:
            kept, given = self.config.model.max_len - 2, len(src) - 2
            warnings.insert(
                0, f"only the first {kept} of {given} pieces were translated; split the sentence"
            )
        return Translation(
            text=text,
            score=hypothesis.score,
            finished=hypothesis.finished,
            ids=tuple(hypothesis.ids),
            pieces=tuple(self.tokenizer.pieces(hypothesis.ids)),
            warnings=tuple(warnings),
        )


def _checked(texts: Iterable[str]) -> list[str]:
    """The texts as a list.  Raises TypeError."""
    if isinstance(texts, str):
        raise TypeError("translate takes a list of texts; for one text write translate([text])")
    texts = list(texts)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"text {i} is {type(text).__name__}, not str")
    return texts


def _different(translations: Iterable[Translation]) -> list[Translation]:
    """The first of each text."""
    first: dict[str, Translation] = {}
    for translation in translations:
        first.setdefault(translation.text, translation)
    return list(first.values())


def _chunks(items: Sequence[int], size: int) -> Iterable[Sequence[int]]:
    return (items[start : start + size] for start in range(0, len(items), size))
