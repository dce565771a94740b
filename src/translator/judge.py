"""Which validation is the best so far, and whether it is time to stop."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

HIGHER_IS_BETTER: Final = {"nll": False, "chrf": True}


@dataclass
class Judge:
    """Remembers the best value of one metric; plain values in and out, so that a resumed run goes
    on judging where it stopped.

    Args:
        metric: nll or chrf
        patience: stop after so many values without a better one; 0 never does
    """

    metric: str
    patience: int
    best: float | None = None
    since_best: int = 0

    def is_best(self, value: float | None) -> bool:
        """Takes the next value; a tie keeps the older. Without a value the newest is the best."""
        if value is None:
            return True
        if self.best is None or self.better(value, self.best):
            self.best, self.since_best = value, 0
            return True
        self.since_best += 1
        return False

    def better(self, a: float, b: float) -> bool:
        """Whether a is better than b; what is not a number is better than nothing."""
        if math.isnan(a) or math.isnan(b):
            return math.isnan(b) and not math.isnan(a)
        return a > b if HIGHER_IS_BETTER[self.metric] else a < b

    def worst(self, values: Sequence[float]) -> int:
        """The index of the worst value; of equal ones the first."""
        worst = 0
        for index, value in enumerate(values):
            if self.better(values[worst], value):
                worst = index
        return worst

    @property
    def exhausted(self) -> bool:
        """Whether patience has come to its end."""
        return 0 < self.patience <= self.since_best
