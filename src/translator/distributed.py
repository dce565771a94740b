"""Several processes that train one model together, started by `torchrun`; or one alone.

Everything goes through torch.distributed: gloo between CPUs, nccl between GPUs. Alone, nothing is
set up and every call is the plain thing.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, TypeVar

import torch
import torch.distributed
from torch import Tensor, nn

from translator.errors import UserError

Shared = TypeVar("Shared")

TIMEOUT: Final = timedelta(hours=1)
"""How long one process waits for another. torchrun ends them all at once when one fails; this is
for those it cannot see, and longer than the first process needs to read a large corpus."""


@dataclass(frozen=True)
class Workers:
    """This process among those that train together."""

    rank: int = 0
    world_size: int = 1

    @classmethod
    def join(cls, device: torch.device) -> "Workers":
        """Meets the others that torchrun started; without torchrun there are none.

        Raises:
            UserError: the environment speaks of others and does not say where they are.
        """
        if "WORLD_SIZE" not in os.environ:
            return cls()
        if not torch.distributed.is_initialized():
            backend = "nccl" if device.type == "cuda" else "gloo"
            if device.type == "cuda":
                torch.cuda.set_device(device)  # objects and barriers travel through the current one
            try:
                torch.distributed.init_process_group(backend, timeout=TIMEOUT)
            except ValueError as error:  # some schedulers set WORLD_SIZE and nothing else
                raise UserError(
                    f"WORLD_SIZE is set, but {error}; start with torchrun, or unset WORLD_SIZE"
                ) from None
        return cls(torch.distributed.get_rank(), torch.distributed.get_world_size())

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes files and reports."""
        return self.rank == 0

    def meet(self) -> None:
        """Waits until all are here."""
        if self.world_size > 1:
            torch.distributed.barrier()

    def add(self, *numbers: float, device: torch.device) -> list[float]:
        """Each number summed over all processes."""
        if self.world_size == 1:
            return list(numbers)
        sums = torch.tensor(numbers, dtype=torch.float64, device=device)
        torch.distributed.all_reduce(sums)
        return sums.tolist()

    def from_first(self, value: Shared) -> Shared:
        """What the first process passes in, for all."""
        if self.world_size == 1:
            return value
        box: list[Any] = [value]
        torch.distributed.broadcast_object_list(box, src=0)
        shared: Shared = box[0]
        return shared

    def gather(self, value: Shared) -> list[Shared]:
        """What each process passes in, by rank, for all."""
        if self.world_size == 1:
            return [value]
        box: list[Any] = [None] * self.world_size
        torch.distributed.all_gather_object(box, value)
        return box

    def share(self, rows: Tensor, work: Callable[[Tensor], Tensor]) -> Tensor:
        """`work` on rows that do not depend on each other, of which each process does a part; all
        get the whole.  (N, …) -> (N, …), the same shape and type
        """
        if self.world_size == 1:
            return work(rows)
        whole = torch.empty_like(rows, memory_format=torch.contiguous_format)
        parts = whole.tensor_split(self.world_size)
        parts[self.rank].copy_(work(rows.tensor_split(self.world_size)[self.rank]))
        for rank, part in enumerate(parts):
            torch.distributed.broadcast(part, src=rank)
        return whole

    def wrap(self, module: nn.Module) -> nn.Module:
        """The module with gradients that are averaged over all processes."""
        if self.world_size == 1:
            return module
        return nn.parallel.DistributedDataParallel(module)


ALONE: Final = Workers()


def leave() -> None:
    """Gives the connections back, if there were any."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
