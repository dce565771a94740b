"""What runs a search, sources as ids in, hypotheses out; here the one that uses PyTorch."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from translator.beam import BeamOptions, beam_search
from translator.compact import EXACT, CompactModel
from translator.config import DecodingConfig
from translator.decoding import Decodable, Hypothesis, SearchLimits, Uncached, greedy_search
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
    changed (but for changes through `weight.data` and by fused optimizers, which leave no trace);
    elsewhere, and in other number formats than float32, the model is used as it is. Several threads
    may search at a time.
    """

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self._made: _Made | None = None

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
        lengths = [len(ids) for ids in sources]
        rows = [[*ids, *[self.model.pad_id] * (max(lengths) - len(ids))] for ids in sources]
        src = torch.tensor(rows, device=self._device)  # (B, S)
        if not use_cache and options.precision != "fp32":
            raise EngineError(
                f"decoding.precision: {options.precision} needs the cache; write fp32"
            )
        with torch.autocast(self._device.type, enabled=False):  # products as `options` say
            model = self._laid_out(options) if use_cache else Uncached(self.model)
            if options.beam_size == 1:
                found = greedy_search(model, src, lengths, limits, prefixes=prefixes)
                return [[best] for best in found]
            beam = BeamOptions(
                beam_size=options.beam_size,
                n_best=options.n_best,
                length_penalty=options.length_penalty,
            )
            return beam_search(model, src, lengths, limits, beam, prefixes=prefixes)

    def describe(self, options: DecodingConfig) -> str:
        """Such as "PyTorch on cpu, fp32, 2 threads"."""
        kind = self.model.embedding.weight.dtype
        name = options.precision if kind == torch.float32 else str(kind).removeprefix("torch.")
        text = f"PyTorch on {self._device}, {name}"
        if self._device.type != "cpu":
            return text
        n_threads = torch.get_num_threads()
        return f"{text}, {n_threads} thread{'s' if n_threads > 1 else ''}"

    @property
    def _device(self) -> torch.device:
        return self.model.embedding.weight.device

    def _laid_out(self, options: DecodingConfig) -> Decodable[Any]:
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
        numbers = [*self.model.parameters(), self.model.embedding.positions]
        exact = all(one.dtype == torch.float32 for one in numbers)
        if self._device.type != "cpu" or not exact:
            check_precision(options.precision, self._device, exact)
            return self.model
        made = self._made
        if made is None or not made.fits(options.precision, numbers):
            check_precision(options.precision, self._device)
            states = list(map(_State.of, numbers))
            layout = CompactModel(self.model, options.precision)
            made = self._made = _Made(options.precision, states, layout)
        return made.layout.with_exact(max(EXACT, 4 * options.beam_size))


class _State(NamedTuple):
    """A tensor as it was; kept, so that no other can take its place in memory. Changes through
    `.data`, and those of inference tensors, leave no trace.
    """

    tensor: Tensor
    address: int
    version: int

    @classmethod
    def of(cls, tensor: Tensor) -> "_State":
        return cls(tensor, tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version)

    def holds(self) -> bool:
        return self[1:] == _State.of(self.tensor)[1:]


class _Made(NamedTuple):
    """A layout, and what it was made of."""

    precision: str
    states: Sequence[_State]
    layout: CompactModel

    def fits(self, precision: str, numbers: Sequence[Tensor]) -> bool:
        """Whether it would be made just so again."""
        return (
            precision == self.precision
            and len(numbers) == len(self.states)
            and all(
                state.tensor is now and state.holds()
                for state, now in zip(self.states, numbers, strict=True)
            )
        )


def check_precision(precision: str, device: torch.device, exact: bool = True) -> None:
    """Raises EngineError: products in this format are not for this device, or for weights that are
    not in float32.
    """
    if precision != "fp32" and not exact:
        raise EngineError(f"decoding.precision: {precision} is made of float32 weights; write fp32")
    if precision != "fp32" and device.type != "cpu":
        raise EngineError(
            f"decoding.precision: {precision} is for the CPU, the model is on {device}; write fp32"
        )
    able = {"fp32": True, "bf16": has_fast_bfloat16(device), "int8": has_fast_int8(device)}
    if not able[precision]:
        raise EngineError(
            f"decoding.precision: this processor has no instructions for {precision}; write fp32"
        )
