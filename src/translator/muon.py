"""Muon, an optimizer for the matrices of the blocks.

"Muon: An optimizer for hidden layers in neural networks" (Keller Jordan and others, 2024,
https://kellerjordan.github.io/posts/muon/). A gradient is mostly a few strong directions; the step
is made equally long in all of them, so that the weak ones are learnt too. How long is said as in
"Muon is Scalable for LLM Training" (Liu and others, 2025), so that the rate means what it means to
AdamW.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor

from translator.distributed import ALONE, Workers

MOMENTUM: Final = 0.95
COEFFICIENTS: Final = (3.4445, -4.7750, 2.0315)
"""Of the polynomial a·s + b·s³ + c·s⁵ that draws a singular value s towards 1."""
ITERATIONS: Final = 5
STEP: Final = 0.2
"""The root mean square of an update at rate 1, about that of AdamW."""


class Matrix(NamedTuple):
    """A weight, and the parts of it that are matrices of their own: those of the heads."""

    weight: Tensor
    parts: int = 1
    side_by_side: bool = False  # the parts are columns of the weight, not rows

    def split(self, whole: Tensor) -> Tensor:
        """(R, C) -> (parts, R / parts, C), or (parts, C / parts, R) if side by side"""
        rows = whole.mT if self.side_by_side else whole
        return rows.reshape(self.parts, -1, rows.size(-1))

    def join(self, parts: Tensor) -> Tensor:
        """The opposite of `split`."""
        rows = parts.flatten(0, 1)
        return rows.mT if self.side_by_side else rows


def orthogonalize(matrices: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Matrices with the same singular vectors whose singular values are all about 1 (0.68 to 1.2;
    less below a 650th of the matrix's norm).

    The iteration of Newton and Schulz, X ← (aI + bXXᵀ + c(XXᵀ)²)X.

    Args:
        matrices: (N, R, C)
        dtype: of the products

    Returns:
        (N, R, C)
    """
    if matrices.size(-2) > matrices.size(-1):  # XXᵀ should be the small one of XXᵀ and XᵀX
        turned: Tensor = orthogonalize(matrices.mT, dtype).mT
        return turned
    a, b, c = COEFFICIENTS
    length = torch.linalg.matrix_norm(matrices, keepdim=True).clamp_min(1e-7)
    x: Tensor = (matrices / length).to(dtype)  # no singular value is above 1
    for _ in range(ITERATIONS):
        gram = x @ x.mT  # (N, R, R)
        polynomial = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
        x = torch.baddbmm(x, polynomial, x, beta=a)
    return x.to(matrices.dtype)


class Muon(torch.optim.Optimizer):
    """Momentum of Nesterov, made orthogonal; weight decay as in AdamW.

    Args:
        matrices: each weight once
        workers: those that train together; each computes its share of the updates
        dtype: of the products in `orthogonalize`

    Raises:
        ValueError: a weight that is no matrix.
    """

    def __init__(
        self,
        matrices: Sequence[Matrix],
        lr: float,
        weight_decay: float,
        workers: Workers = ALONE,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        weights = [matrix.weight for matrix in matrices]
        for weight in weights:
            if weight.dim() != 2:
                raise ValueError(f"Muon is for matrices, not for shape {tuple(weight.shape)}")
        super().__init__(weights, {"lr": lr, "weight_decay": weight_decay})
        self._matrices = matrices
        self._workers = workers
        self._dtype = dtype

    def __getstate__(self) -> dict[str, Any]:
        """For copies; `state_dict` is what a training saves."""
        own = {name: getattr(self, name) for name in ("_matrices", "_workers", "_dtype")}
        return {**super().__getstate__(), **own}

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Of no use here.  Raises ValueError after the first."""
        if self.param_groups:
            raise ValueError("Muon takes all its matrices at the start")
        super().add_param_group(param_group)

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One update from the gradients as they are. A `closure` is not for this optimizer."""
        if closure is not None:
            raise ValueError("a closure, which would compute the gradients again, is not supported")
        [group] = self.param_groups
        alike: dict[torch.Size, list[tuple[Matrix, Tensor]]] = defaultdict(list)
        for matrix in self._matrices:
            gradient = matrix.weight.grad
            if gradient is None:
                continue
            state = self.state[matrix.weight]
            if not state:
                state["momentum"] = torch.zeros_like(gradient)
            momentum: Tensor = state["momentum"]
            momentum.lerp_(gradient, 1 - MOMENTUM)
            parts = matrix.split(gradient.lerp(momentum, MOMENTUM))
            alike[parts.shape].append((matrix, parts))
        for shape, members in alike.items():
            stacked = torch.cat([parts for _, parts in members])
            updates = self._workers.share(stacked, lambda own: orthogonalize(own, self._dtype))
            length = STEP * max(shape[1:]) ** 0.5
            for (matrix, _), update in zip(members, torch.split(updates, shape[0]), strict=True):
                matrix.weight.mul_(1 - group["lr"] * group["weight_decay"])
                matrix.weight.add_(matrix.join(update), alpha=-group["lr"] * length)
