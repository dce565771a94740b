"""Writes the events of a run for TensorBoard. Needs the extra 'tensorboard'."""

from pathlib import Path
from typing import Final

from translator.errors import UserError, lacks
from translator.events import Event, Started, StepReport, ValidationReport

FIGURES: Final = "loss lr grad_norm tokens_per_second padding waiting skipped".split()
"""What is drawn of a step's report."""


class Board:
    """One curve for each figure of the steps and of the validations, one text for each sample.

    Raises:
        UserError: the package tensorboard is not installed.
    """

    def __init__(self, directory: str | Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise UserError(lacks("train.tensorboard needs a package", "tensorboard")) from None
        self._writer_class = SummaryWriter
        self._directory = Path(directory)
        self._writer: SummaryWriter | None = None

    def show(self, event: Event) -> None:
        """Adds an event to the board; one that has no numbers adds nothing."""
        if isinstance(event, Started):
            self._begin(event.step)
        if self._writer is None:
            return
        if isinstance(event, StepReport):
            for name in FIGURES:
                self._writer.add_scalar(f"train/{name}", getattr(event, name), event.step)
        elif isinstance(event, ValidationReport):
            for name, value in (("nll", event.nll), ("chrf", event.chrf)):
                if value is not None:
                    self._writer.add_scalar(f"dev/{name}", value, event.step)
            for sample in event.samples:
                self._writer.add_text(sample.src, sample.translation, event.step)
            self._writer.flush()

    def close(self) -> None:
        """Writes what is left."""
        if self._writer is not None:
            self._writer.close()

    def _begin(self, step: int) -> None:
        """A resumed run hides what an earlier process wrote after the step it goes on from."""
        self._writer = self._writer_class(
            str(self._directory), purge_step=step + 1 if step else None
        )
