"""The figures of the steps between two reports."""

import math
import time
from dataclasses import dataclass

from translator.events import StepReport


@dataclass(frozen=True)
class StepResult:
    """What one optimizer step came to."""

    loss: float  # sum over the tokens; 0 when skipped
    n_tokens: float
    lr: float
    grad_norm: float
    padding: float
    skipped: int = 0


class Window:
    """Means over the steps between two reports; times only over those of this process."""

    def __init__(self, results: list[StepResult]) -> None:
        self.results = results
        self._older = len(results)
        self._started = self._idle_since = time.perf_counter()
        self._waited = 0.0

    def begin_step(self) -> None:
        """The next batch is here."""
        self._waited += time.perf_counter() - self._idle_since

    def add(self, result: StepResult) -> None:
        """The step is done."""
        self.results.append(result)
        self._idle_since = time.perf_counter()

    def report(self, step: int, max_steps: int) -> StepReport:
        """What the steps so far come to."""
        seconds = time.perf_counter() - self._started
        timed = self.results[self._older :]
        good = [result for result in self.results if not result.skipped]
        n_tokens = sum(result.n_tokens for result in good)
        return StepReport(
            step=step,
            loss=sum(result.loss for result in good) / n_tokens if good else math.nan,
            lr=self.results[-1].lr,
            grad_norm=sum(result.grad_norm for result in good) / len(good) if good else math.nan,
            tokens_per_second=sum(result.n_tokens for result in timed) / seconds,
            padding=sum(result.padding for result in self.results) / len(self.results),
            waiting=self._waited / seconds,
            skipped=len(self.results) - len(good),
            seconds_left=(max_steps - step) * seconds / len(timed),
        )
