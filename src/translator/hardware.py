"""Which device and which number format a run uses."""

import ctypes
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final

import torch

from translator.errors import UserError

_M_TRIM_THRESHOLD: Final = -1  # numbers of malloc.h
_M_MMAP_THRESHOLD: Final = -3


class HardwareError(UserError, ValueError):
    """A device is not there, or it cannot compute in the number format asked for."""


def choose_device(name: str, setting: str = "train.device") -> torch.device:
    """The device of a setting; "auto" is a GPU of CUDA where there is one, else the CPU.

    Under torchrun each process takes the GPU of its own number, so it must not be given one.

    Args:
        setting: what the user calls it, for the error

    Raises:
        HardwareError: no such device on this machine.
    """
    chosen = name
    if name == "auto":
        chosen = "cuda" if torch.cuda.is_available() else "cpu"
    own = os.environ.get("LOCAL_RANK")
    try:
        device = torch.device(chosen)
        if device.type == "cuda" and own is not None:
            if device.index is not None:
                raise HardwareError(
                    f"{setting}: {name!r} would put all processes on one GPU; write cuda"
                )
            if torch.cuda.is_available() and int(own) >= torch.cuda.device_count():
                raise HardwareError(
                    f"{setting}: process {own} has no GPU of its own, there are "
                    f"{torch.cuda.device_count()}; lower --nproc-per-node"
                )
            device = torch.device("cuda", int(own))
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise HardwareError(
            f"{setting}: {name!r} is not on this machine; try auto or cpu"
        ) from None
    if device.type == "meta":
        raise HardwareError(f"{setting}: meta holds no numbers; try auto or cpu")
    return device


def keep_memory() -> None:
    """Asks the C library to keep large blocks that are freed, for the next step needs them again.

    Else each of them is taken from the kernel anew, page by page: a fifth of a training step. glibc
    knows these options; elsewhere nothing happens.
    """
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # PyTorch's own: fewer, larger pages
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for option, size in ((_M_MMAP_THRESHOLD, 1 << 30), (_M_TRIM_THRESHOLD, (1 << 31) - 1)):
        mallopt(option, size)


def random_state(device: torch.device) -> dict[str, Any]:
    """Where the random numbers of this process stand, on the CPU and on its device."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    if device.type == "mps":
        state["mps"] = torch.mps.get_rng_state()
    return state


def set_random_state(state: Mapping[str, Any], device: torch.device) -> None:
    """Goes back to what `random_state` gave, as far as the device is of the same kind."""
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
    if device.type == "mps" and "mps" in state:
        torch.mps.set_rng_state(state["mps"])


@dataclass(frozen=True)
class Precision:
    """The number format of the matrix products. Weights, sums and optimizer stay in float32."""

    device: torch.device
    dtype: torch.dtype
    why: str  # a few words for the log

    @classmethod
    def choose(cls, setting: str, device: torch.device) -> "Precision":
        """`setting` is fp32, bf16, fp16, or auto: bf16 where the processor has instructions for it.

        Raises:
            HardwareError: fp16 on a CPU, whose gradients would vanish without any gain in speed.
        """
        if setting == "fp16" and device.type != "cuda":
            raise HardwareError(
                f"train.precision: fp16 is for CUDA, this device is {device.type}; "
                "write bf16, fp32 or auto"
            )
        if setting == "auto":
            fast = has_fast_bfloat16(device)
            dtype = torch.bfloat16 if fast else torch.float32
            chip = "processor" if device.type == "cpu" else device.type
            return cls(device, dtype, f"the {chip} has {'' if fast else 'no '}fast bfloat16")
        named = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
        slow = setting == "bf16" and not has_fast_bfloat16(device)
        why = "as set, but slow: no instructions for it here" if slow else "as set"
        return cls(device, named[setting], why)

    def __str__(self) -> str:
        name = str(self.dtype).removeprefix("torch.")
        return f"{name} on {self.device} ({self.why})"

    def autocast(self) -> AbstractContextManager[None]:
        """Inside, matrix products are computed in this format."""
        enabled = self.dtype != torch.float32
        return torch.autocast(
            self.device.type, self.dtype if enabled else torch.bfloat16, enabled=enabled
        )

    def scaler(self) -> torch.amp.GradScaler:
        """Keeps small gradients of fp16 from vanishing; does nothing in other formats."""
        enabled = self.dtype == torch.float16
        return torch.amp.GradScaler(self.device.type, init_scale=2.0**12, enabled=enabled)


def has_fast_bfloat16(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 matrices faster than float32 ones."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return _cpu_has_any(device, "amx_bf16", "avx512_bf16")


def has_fast_int8(device: torch.device) -> bool:
    """Whether a CPU has instructions that multiply and add 8-bit whole numbers ("VNNI")."""
    return _cpu_has_any(device, "amx_int8", "avx512_vnni", "avx_vnni")


def _cpu_has_any(device: torch.device, *names: str) -> bool:
    if device.type != "cpu" or not hasattr(torch.cpu, "get_capabilities"):
        return False
    found = torch.cpu.get_capabilities()
    return any(bool(found.get(name)) for name in names)
