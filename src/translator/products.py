"""Matrix products of trained weights, laid out for decoding, in three number formats.

Decoding multiplies a handful of rows with every weight at every step, so that it waits for memory
rather than for arithmetic. What helps is fewer bytes, and bytes in the order in which they are
read: oneDNN, which PyTorch carries, puts a weight in blocks once and for all ("packs" it). On one
row a plain matrix whose longer side stands contiguous is as fast.
"""

import platform
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import torch
from torch import Tensor, nn

INT8_MOST: Final = 127


class Product(Protocol):
    """y = x Wᵀ + b for the rows of x, and what is done to it at once: relu(y), or y + `plus`.

    (R, in), (R, out) -> (R, out), float32 in every format
    """

    def __call__(self, x: Tensor, plus: Tensor | None = None, relu: bool = False) -> Tensor: ...


class Float32Product:
    """The numbers as they are."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        n_out, n_in = weight.shape
        self._plain = weight.t().contiguous() if n_out >= n_in else weight.contiguous().t()
        self._packed = _packed(weight)
        self._bias = bias

    def __call__(self, x: Tensor, plus: Tensor | None = None, relu: bool = False) -> Tensor:
        if self._packed is not None and x.size(0) > 1:
            return _multiply(x, self._packed, self._bias, plus, relu)
        out = x @ self._plain if self._bias is None else torch.addmm(self._bias, x, self._plain)
        return _finished(out, None, plus, relu)


class Bfloat16Product:
    """Both factors rounded to 8 significant bits, and the result."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        rounded = weight.bfloat16()
        self._plain = rounded.t()
        self._packed = _packed(rounded)
        self._bias = bias

    def __call__(self, x: Tensor, plus: Tensor | None = None, relu: bool = False) -> Tensor:
        if self._packed is not None:
            out = _multiply(x.bfloat16(), self._packed).float()
        else:
            out = torch.mm(x.bfloat16(), self._plain).float()
        return _finished(out, self._bias, plus, relu)


class Int8Product:
    """Whole numbers from -127 to 127 with one scale for each row of x and of W, taken when the rows
    come ("dynamic quantisation"); a row's result does not depend on the other rows.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        scale = _scale(weight)  # (out, 1)
        self._weight = (weight / scale).round_().to(torch.int8).t()
        self._scale = scale.flatten()
        self._bias = bias

    def __call__(self, x: Tensor, plus: Tensor | None = None, relu: bool = False) -> Tensor:
        scale = _scale(x)  # (R, 1)
        whole = (x / scale).round_().to(torch.int8)
        out = torch._int_mm(whole, self._weight).float().mul_(scale).mul_(self._scale)
        return _finished(out, self._bias, plus, relu)


FORMATS: Final[dict[str, type[Float32Product] | type[Bfloat16Product] | type[Int8Product]]] = {
    "fp32": Float32Product,
    "bf16": Bfloat16Product,
    "int8": Int8Product,
}


class Affine(NamedTuple):
    """What a linear layer multiplies with and adds."""

    weight: Tensor  # (out, in)
    bias: Tensor  # (out,)

    @classmethod
    def of(cls, layer: nn.Linear, factor: float = 1.0) -> "Affine":
        """The layer's numbers, times a factor."""
        return cls(layer.weight.detach() * factor, layer.bias.detach() * factor)


def joined(layers: Sequence[Affine], precision: str) -> Product:
    """Several layers that read the same input as one product; results side by side.

    The weights are copied: what is learned later does not reach them.
    """
    weight = torch.cat([layer.weight for layer in layers])
    return FORMATS[precision](weight, torch.cat([layer.bias for layer in layers]))


def _packed(weight: Tensor) -> Tensor | None:
    """The weight in oneDNN's order; None where PyTorch comes without it, or with another one."""
    ours = weight.device.type == "cpu" and platform.machine() in {"x86_64", "AMD64"}
    if not ours or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return None
    if not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return None
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
    return packed


def _multiply(
    x: Tensor,
    packed: Tensor,
    bias: Tensor | None = None,
    plus: Tensor | None = None,
    relu: bool = False,
) -> Tensor:
    """x Wᵀ with a packed W; bias, ReLU or residual in the same call."""
    linear = torch.ops.mkldnn._linear_pointwise
    if plus is not None:
        return linear.binary(x, plus, packed, bias, "add")  # type: ignore[no-any-return]
    return linear(x, packed, bias, "relu" if relu else "none", [], "")  # type: ignore[no-any-return]


def _finished(out: Tensor, bias: Tensor | None, plus: Tensor | None, relu: bool) -> Tensor:
    """Bias, ReLU and residual in place, for products that cannot do them in the same call."""
    if bias is not None:
        out.add_(bias)
    if relu:
        out.relu_()
    return out if plus is None else out.add_(plus)


def _scale(x: Tensor) -> Tensor:
    """What one unit is worth in each row.  (R, n) -> (R, 1)"""
    return x.abs().amax(dim=1, keepdim=True).clamp_min_(1e-30).div_(INT8_MOST)
