"""A model exported to CTranslate2, searched by that library: https://opennmt.net/CTranslate2.

The directory holds everything: `model.bin`, `config.json` and `shared_vocabulary.json` are
CTranslate2's, `tokenizer.model` and `translator.yaml` are the vocabulary and settings of this
package.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch

from translator.config import Config, ConfigError, DecodingConfig
from translator.decoding import Hypothesis, SearchLimits
from translator.errors import UserError, lacks
from translator.tokenizer import Tokenizer, TokenizerError

MODEL: Final = "model.bin"
VOCABULARY: Final = "shared_vocabulary.json"
TOKENIZER: Final = "tokenizer.model"
SETTINGS: Final = "translator.yaml"


class ExportError(UserError, ValueError):
    """A model cannot be exported, or an export cannot be used."""


class Exported(NamedTuple):
    """What an exported directory holds."""

    model: "ExportedModel"
    tokenizer: Tokenizer
    config: Config


def is_exported(path: str | Path) -> bool:
    """Whether there is a directory that `export_model` wrote."""
    return all((Path(path) / name).is_file() for name in (MODEL, SETTINGS))


def load_exported(path: str | Path) -> Exported:
    """Opens an exported directory.

    Raises:
        ExportError: a file is missing or damaged, or CTranslate2 is not installed.
    """
    path = Path(path)
    ctranslate2 = import_ctranslate2()
    try:
        tokenizer = Tokenizer((path / TOKENIZER).read_bytes())
        config = Config.from_yaml(path / SETTINGS)
        pieces = json.loads((path / VOCABULARY).read_text(encoding="utf-8"))
        if pieces != tokenizer.pieces(range(tokenizer.vocab_size)):
            raise ValueError(f"{VOCABULARY} is another model's")
        translator = ctranslate2.Translator(
            str(path), device="cpu", inter_threads=1, intra_threads=torch.get_num_threads()
        )
    except (OSError, TokenizerError, ConfigError, RuntimeError, ValueError) as error:
        raise ExportError(f"{path}: not a whole export ({error}); export it again") from None
    return Exported(ExportedModel(translator, tokenizer), tokenizer, config)


def import_ctranslate2() -> Any:
    """The library.  Raises ExportError: it is not installed."""
    try:
        import ctranslate2
    except ImportError:
        raise ExportError(lacks("this needs CTranslate2", "export")) from None
    return ctranslate2


class ExportedModel:
    """An engine that leaves the search to CTranslate2.

    Greedy search gives what PyTorch gives. Beam search follows other rules in small things: there
    the length penalty divides by length^α.

    Args:
        translator: a `ctranslate2.Translator`
        tokenizer: whose pieces are its vocabulary
    """

    def __init__(self, translator: Any, tokenizer: Tokenizer) -> None:
        self._translator = translator
        self._pieces = tokenizer.pieces(range(tokenizer.vocab_size))
        self._ids = {piece: i for i, piece in enumerate(self._pieces)}

    def search(
        self,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Sequence[int]],
        limits: SearchLimits,
        options: DecodingConfig,
        use_cache: bool,
    ) -> Sequence[Sequence[Hypothesis]]:
        """As `Engine.search`.  Raises ExportError: what only the checkpoint can do."""
        if not use_cache:
            raise ExportError("an exported model cannot decode without its cache")
        if options.precision != DecodingConfig.precision:
            raise ExportError(
                f"decoding.precision: {options.precision} has no effect on an exported model; "
                f"export it again with another --quantization"
            )
        budgets = [limits.max_tokens(len(ids)) for ids in sources]
        found = self._search(sources, prefixes, max(budgets), limits, options)
        for i, budget in enumerate(budgets):
            # a neighbour may write more
            if any(len(h.ids) + h.finished > budget for h in found[i]):
                begin = prefixes[i : i + 1]
                found[i] = self._search(sources[i : i + 1], begin, budget, limits, options)[0]
        return found

    def describe(self, options: DecodingConfig) -> str:  # noqa: ARG002
        """Such as "CTranslate2 on cpu, int8"."""
        return f"CTranslate2 on {self._translator.device}, {self._translator.compute_type}"

    def _search(
        self,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Sequence[int]],
        most: int,
        limits: SearchLimits,
        options: DecodingConfig,
    ) -> list[list[Hypothesis]]:
        alpha = options.length_penalty if options.beam_size > 1 else 0.0
        results = self._translator.translate_batch(
            [self._written(ids) for ids in sources],
            target_prefix=[self._written(ids) for ids in prefixes] or None,
            beam_size=options.beam_size,
            num_hypotheses=options.n_best,
            length_penalty=alpha,
            no_repeat_ngram_size=limits.no_repeat_ngram,
            min_decoding_length=limits.min_tokens,
            max_decoding_length=most,
            max_input_length=0,
            suppress_sequences=[[self._pieces[i]] for i in limits.never],
            return_scores=True,
            return_end_token=True,
        )
        end = self._pieces[limits.eos_id]
        found = []
        for result in results:
            row = []
            for pieces, score in zip(result.hypotheses, result.scores, strict=True):
                finished = pieces[-1:] == [end]
                ids = [self._ids[piece] for piece in pieces[: len(pieces) - finished]]
                row.append(Hypothesis(ids, score * len(pieces) ** alpha, finished))
            found.append(row)
        return found

    def _written(self, ids: Sequence[int]) -> list[str]:
        return [self._pieces[i] for i in ids]
