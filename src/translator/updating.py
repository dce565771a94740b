"""One optimizer step: the gradient of several batches, clipped, and the update that follows."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import nn

from translator.config import TrainConfig
from translator.distributed import Workers
from translator.errors import UserError
from translator.feed import Group
from translator.hardware import Precision
from translator.model.transformer import Transformer
from translator.objective import Objective
from translator.optim import clip_gradients, learning_rate, make_optimizers, set_learning_rate
from translator.progress import StepResult

MOST_SKIPPED: Final = 10
"""After this many steps in a row whose gradient is not finite a run ends."""


class Updater:
    """Changes the weights of a model, step by step, together with the other processes.

    Args:
        settings: rate, clipping, label smoothing
        model: on the device of `precision`, in training mode at each step
        workers: the processes whose gradients are added
    """

    def __init__(
        self, settings: TrainConfig, model: Transformer, precision: Precision, workers: Workers
    ) -> None:
        self._settings = settings
        self._model = model
        self._precision = precision
        self._workers = workers
        self._optimizers = make_optimizers(model, settings, workers, precision.dtype)
        self._scaler = precision.scaler()
        self._skipped_in_a_row = 0
        objective: nn.Module = Objective(model)
        if settings.compile:
            objective = torch.compile(objective, dynamic=True)  # type: ignore[assignment]
        self._objective = workers.wrap(objective)

    def update(self, group: Group, step: int) -> StepResult:
        """Step number `step` over the group's batches: their sum, divided once by all tokens.

        A gradient that is not finite changes nothing and is counted.

        Raises:
            UserError: MOST_SKIPPED such gradients in a row, or one at the very end.
        """
        assert self._model.training, "validation must give back training mode"
        settings, device = self._settings, self._precision.device
        rate = learning_rate(step, settings)
        set_learning_rate(self._optimizers, rate)
        own_tokens = group.weight * sum(batch.n_tokens for batch in group.batches)
        [n_tokens] = self._workers.add(own_tokens, device=device)
        for optimizer in self._optimizers:
            optimizer.zero_grad(set_to_none=True)
        own_loss = torch.zeros((), device=device)
        for number, batch in enumerate(group.batches, 1):
            with self._gradients_meet(number == len(group.batches)):
                with self._precision.autocast():
                    sums = self._objective(batch.to(device), settings.label_smoothing)
                # DistributedDataParallel takes the mean over processes, we want the sum
                share = group.weight * self._workers.world_size / n_tokens
                self._scaler.scale(sums.loss * share).backward()
            own_loss += group.weight * sums.loss.detach()
        for optimizer in self._optimizers:
            self._scaler.unscale_(optimizer)
        norm = clip_gradients(self._model, settings.clip_norm)
        [loss] = self._workers.add(float(own_loss), device=device)
        finite = math.isfinite(norm) and math.isfinite(loss)
        if finite:
            for optimizer in self._optimizers:
                self._scaler.step(optimizer)
        self._scaler.update()  # fp16: a lower scale after a gradient that is not finite
        self._count_skipped(finite, step, rate)
        padding = sum(batch.padding for batch in group.batches) / len(group.batches)
        if finite:
            return StepResult(loss, n_tokens, rate, norm, padding)
        return StepResult(0.0, 0, rate, 0.0, padding, skipped=1)

    @property
    def trusted(self) -> bool:
        """Whether the weights are worth saving. A skipped step of fp16 is how its scale is found;
        in other formats a gradient that is not finite means that the weights have gone wrong.
        """
        return self._scaler.is_enabled() or not self._skipped_in_a_row

    def state(self) -> dict[str, Any]:
        """Plain values and tensors for `restore`."""
        states = [optimizer.state_dict() for optimizer in self._optimizers]
        return {"optimizers": states, "scaler": self._scaler.state_dict()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes back to a saved state."""
        for optimizer, saved in zip(self._optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self._scaler.load_state_dict(state["scaler"])

    def _count_skipped(self, finite: bool, step: int, rate: float) -> None:
        self._skipped_in_a_row = 0 if finite else self._skipped_in_a_row + 1
        at_the_end = step == self._settings.max_steps and not self.trusted
        if self._skipped_in_a_row >= MOST_SKIPPED or at_the_end:
            raise UserError(
                f"loss or gradient is not finite at step {step}, {self._skipped_in_a_row} "
                f"step{'s' * (self._skipped_in_a_row > 1)} in a row (lr {rate:.2e}); lower "
                "train.lr or raise train.warmup_steps; checkpoints from before are kept"
            )

    @contextmanager
    def _gradients_meet(self, now: bool) -> Iterator[None]:
        """Only the last batch of a step exchanges gradients between processes."""
        if isinstance(self._objective, nn.parallel.DistributedDataParallel) and not now:
            with self._objective.no_sync():
                yield
        else:
            yield
