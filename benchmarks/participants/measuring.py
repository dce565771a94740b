"""What all participants share: the sizes, the clock, the count of positions, the line they print.

It runs in the project's environment and in those of the peers, so it imports nothing but torch.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import torch
from memory import peak_rss_mb
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils.hooks import RemovableHandle

Dtype = Literal["fp32", "bf16"]

D_MODEL: Final = 256
N_HEADS: Final = 4
N_LAYERS: Final = 3
"""Layers of the encoder, and of the decoder."""
D_FF: Final = 1024
DROPOUT: Final = 0.1
MAX_LEN: Final = 128
VOCAB_SIZE: Final = 8000

MAX_TOKENS: Final = 4096
"""Budget of a batch: rows × longest side, padding included."""
LABEL_SMOOTHING: Final = 0.1
CLIP_NORM: Final = 1.0
SEED: Final = 1

WARMUP: Final = 10
"""Steps at the start that are not timed: memory is claimed and kernels are chosen there."""


def arguments(
    description: str | None, dtypes: Sequence[str] = ("fp32", "bf16")
) -> argparse.Namespace:
    """The command line that every participant understands."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder written by preparation.py")
    parser.add_argument("--work", type=Path, required=True, help="new folder for its own files")
    parser.add_argument("--steps", type=int, required=True, help="optimizer steps that are timed")
    parser.add_argument("--dtype", choices=dtypes, default="fp32")
    return parser.parse_args()


class StepClock:
    """Times the optimizer steps taken inside its `with`, whichever loop takes them.

    PyTorch calls the hook after each step of any optimizer. So every participant is timed between
    the same two moments: the end of the last warm-up step and the end of the last step.
    """

    def __init__(self, steps: int) -> None:
        self._last = WARMUP + steps
        self._ends: list[float] = []
        self._peak_rss_mb = 0.0
        self._parameters = 0
        self._hook: RemovableHandle | None = None

    def __enter__(self) -> "StepClock":
        self._hook = register_optimizer_step_post_hook(self._ended)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._hook is not None
        self._hook.remove()

    def _ended(self, optimizer: torch.optim.Optimizer, _args: Any, _kwargs: Any) -> None:
        self._ends.append(time.perf_counter())
        if len(self._ends) == self._last:  # what comes later, such as saving, does not count
            self._peak_rss_mb = peak_rss_mb()
            groups = optimizer.param_groups
            self._parameters = sum(p.numel() for group in groups for p in group["params"])

    @property
    def seconds(self) -> float:
        """Duration of the timed steps.  Raises RuntimeError while there are steps to come."""
        if len(self._ends) < self._last:
            raise RuntimeError(f"{len(self._ends)} optimizer steps were taken, not {self._last}")
        return self._ends[self._last - 1] - self._ends[WARMUP - 1]

    @property
    def peak_rss_mb(self) -> float:
        """The most memory that this process had held when the last step ended, in MiB."""
        return self._peak_rss_mb

    @property
    def parameters(self) -> int:
        """How many numbers the optimizer trains."""
        return self._parameters


class BatchCounter:
    """Positions of the timed batches; those of the warm-up are passed over."""

    def __init__(self, steps: int) -> None:
        self._timed = range(WARMUP, WARMUP + steps)
        self._seen = 0
        self._filled = 0
        self._positions = 0
        self.target_tokens = 0

    def add(self, source_tokens: int, target_tokens: int, positions: int) -> None:
        """The batch of the next step.

        Args:
            source_tokens, target_tokens: real ones; the target's are its pieces and eos
            positions: of source and target together, padding included
        """
        if self._seen in self._timed:
            self.target_tokens += target_tokens
            self._filled += source_tokens + target_tokens
            self._positions += positions
        self._seen += 1

    @property
    def padding(self) -> float:
        """Share of positions that hold padding."""
        return 1 - self._filled / self._positions


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a participant says about its timed steps."""

    name: str
    dtype: Dtype
    target_tokens: int  # real ones, eos included
    seconds: float
    padding: float
    peak_rss_mb: float
    loss_first: float  # smoothed, near the end of the warm-up
    loss_last: float  # near the last step: it must have fallen
    flops_per_second: float | None = None
    self_reported: float | None = None  # tokens per second in the participant's own words
    parameters: int

    def print(self) -> None:
        """One line of JSON on stdout."""
        where = {"threads": torch.get_num_threads(), "torch": str(torch.__version__)}
        print(json.dumps({**asdict(self), **where}), flush=True)
