"""What runs a search, sources as ids in, hypotheses out; here the one that uses PyTorch."""

from collections.abc import Sequence
from copy import copy
from typing import Any, Protocol

import torch
from torch import Tensor

from translator.beam import BeamOptions, beam_search
from translator.compact import EXACT, CompactModel
from translator.config import DecodingConfig
from translator.decoding import Hypothesis, SearchLimits, Uncached, greedy_search
from translator.errors import UserError
from translator.hardware import has_fast_bfloat16, has_fast_int8
from translator.model.transformer import Transformer
from translator.unchanged import is_unchanged


class EngineError(UserError, ValueError):
    """An engine cannot do what it was asked for."""


class Engine(Protocol):
    """Finds translations of encoded sources, whatever computes them."""

    def search(
        self,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Sequence[int]],
        limits: SearchLimits,
        options: DecodingConfig,
        use_cache: bool,
    ) -> Sequence[Sequence[Hypothesis]]:
        """The best hypotheses of each source, best first.

        Args:
            prefixes: one for each source, or none at all
        """
        ...

    def describe(self, options: DecodingConfig) -> str:
        """What it computes with, for the curious."""
        ...


class TorchEngine:
    """Searches with a model of this package, in the layout that suits the device.

    On a CPU the weights are laid out for decoding (`CompactModel`), again whenever they have
    changed; elsewhere the model is used as it is. Several threads may search at a time.
    """

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self._made: tuple[object, CompactModel] | None = None  # for which weights, and the layout

    def __getstate__(self) -> dict[str, Any]:
        """For copies, which lay the weights out anew: the packed ones cannot be copied."""
        return {**self.__dict__, "_made": None}

    def search(
        self,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Sequence[int]],
        limits: SearchLimits,
        options: DecodingConfig,
        use_cache: bool,
    ) -> Sequence[Sequence[Hypothesis]]:
        """As `Engine.search`.  Raises EngineError: a precision that this device lacks."""
        with torch.autocast(self._device.type, enabled=False):  # products as `options` say
            return self._search(sources, prefixes, limits, options, use_cache)

    def _search(
        self,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Sequence[int]],
        limits: SearchLimits,
        options: DecodingConfig,
        use_cache: bool,
    ) -> Sequence[Sequence[Hypothesis]]:
        lengths = [len(ids) for ids in sources]
        rows = [[*ids, *[self.model.pad_id] * (max(lengths) - len(ids))] for ids in sources]
        src = torch.tensor(rows, device=self._device)  # (B, S)
        if not use_cache and options.precision != "fp32":
            raise EngineError(
                f"decoding.precision: {options.precision} needs the cache; write fp32"
            )
        model = self._laid_out(options) if use_cache else Uncached(self.model)
        if options.beam_size == 1:
            return [[best] for best in greedy_search(model, src, lengths, limits, prefixes)]
        beam = BeamOptions(
            beam_size=options.beam_size,
            n_best=options.n_best,
            length_penalty=options.length_penalty,
        )
        return beam_search(model, src, lengths, limits, beam, prefixes=prefixes)

    def describe(self, options: DecodingConfig) -> str:
        """Such as "PyTorch on cpu, fp32, 2 threads"."""
        text = f"PyTorch on {self._device}, {options.precision}"
        return f"{text}, {torch.get_num_threads()} threads" if self._device.type == "cpu" else text

    @property
    def _device(self) -> torch.device:
        return self.model.embedding.weight.device

    def _laid_out(self, options: DecodingConfig) -> Any:
        """The model that is searched. One that somebody has changed is asked as a whole at each
        step, without a cache, so that the change counts.
        """
        if not is_unchanged(self.model):
            if options.precision != "fp32":
                raise EngineError(
                    f"decoding.precision: {options.precision} is for a model whose layers are as "
                    "they were made; write fp32"
                )
            return Uncached(self.model)
        if self._device.type != "cpu":
            check_precision(options.precision, self._device)
            return self.model
        now = (options.precision, [_version(weight) for weight in self.model.parameters()])
        made = self._made
        if made is None or now != made[0]:
            check_precision(options.precision, self._device)
            made = self._made = now, CompactModel(self.model, options.precision)
        compact = copy(made[1])  # another thread may want more exact logits than this one
        compact.n_exact = max(EXACT, 4 * options.beam_size)
        return compact


def _version(weight: Tensor) -> tuple[int, int]:
    """Another one when the weight is another or has been changed; inference tensors cannot be."""
    return id(weight), 0 if weight.is_inference() else weight._version


def check_precision(precision: str, device: torch.device) -> None:
    """Raises EngineError: products in this format are not for this device."""
    if precision != "fp32" and device.type != "cpu":
        raise EngineError(
            f"decoding.precision: {precision} is for the CPU, the model is on {device}; write fp32"
        )
    able = {"fp32": True, "bf16": has_fast_bfloat16(device), "int8": has_fast_int8(device)}
    if not able[precision]:
        raise EngineError(
            f"decoding.precision: this processor has no instructions for {precision}; write fp32"
        )
