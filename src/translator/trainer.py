"""The training loop. It yields what happens as events, prints nothing, and can be stopped and
resumed.
"""

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final

import torch
from torch import nn

from translator.averaging import average_weights
from translator.checkpoint import (
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    load_weights,
    save_checkpoint,
)
from translator.config import Config
from translator.distributed import Workers, leave
from translator.errors import UserError
from translator.events import Event, Note, Started, StepReport, Stopped, ValidationReport
from translator.feed import Feed, Group
from translator.hardware import Precision, choose_device, keep_memory
from translator.judge import Judge
from translator.model.transformer import Transformer
from translator.objective import Objective
from translator.optim import clip_gradients, learning_rate, make_optimizer, set_learning_rate
from translator.origin import find_origin, origin_note, with_shape_of
from translator.prefetch import prefetched
from translator.preparation import Material, prepare
from translator.progress import StepResult, Window
from translator.run_dir import RunDirectory
from translator.store import TokenStore
from translator.tokenizer import PAD_ID, Tokenizer
from translator.validation import Scores, score

MOST_SKIPPED: Final = 10
"""So many steps in a row whose gradient is not finite end the run."""


def train(
    config: Config,
    *,
    resume: bool = False,
    overwrite: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Runs, or resumes, the training that `config` describes; yields its events as they happen.

    Under `torchrun` every process calls this; the first one writes the files.

    Args:
        stop: asked after each step; once it says True, the run is saved and ends with `Stopped`

    Raises:
        UserError: anything that the user can mend, before the first step where possible.
    """
    device = choose_device(config.train.device)
    if device.type == "cpu":
        keep_memory()
    precision = Precision.choose(config.train.precision, device)
    run_dir = RunDirectory(config.train.run_dir)
    workers = Workers.join(device)
    try:
        state = run_dir.load_state(config) if resume else None
        if not resume and workers.first:
            run_dir.check_free(overwrite)
        origin = find_origin(config, run_dir, resume)
        config = with_shape_of(origin, config)
        material = yield from _prepare(config, run_dir, origin, workers)
        run = _Run(config, run_dir, material, precision, workers)
        if state is not None:
            run.restore(state)
        elif origin is not None:
            load_weights(run.model, origin.weights)
            yield origin_note(config, origin)
        workers.meet()
        if workers.first:
            if state is None:
                run_dir.clear()
            else:
                run_dir.forget_after(run.step)
        for event in run.events(stop):
            if workers.first or isinstance(event, Stopped):
                yield event
    finally:
        run_dir.release()
        leave()


def _prepare(
    config: Config, run_dir: RunDirectory, origin: Checkpoint | None, workers: Workers
) -> Generator[Event, None, Material]:
    """The first process prepares; the others read what it wrote."""
    material: Material | None = None
    if workers.first:
        tokenizer = None if origin is None else origin.tokenizer
        material = yield from prepare(config, run_dir, tokenizer)
    found = workers.from_first(
        None if material is None else (material.tokenizer.model, list(material.sizes))
    )
    if material is not None:
        return material
    assert found is not None
    model, sizes = found
    train, dev = (TokenStore(run_dir.tokens / name) for name in ("train", "dev"))
    return Material(Tokenizer(model), sizes, train, dev, (), ())


class _Run:
    """Model, optimizer and position of one run."""

    def __init__(
        self,
        config: Config,
        run_dir: RunDirectory,
        material: Material,
        precision: Precision,
        workers: Workers,
    ) -> None:
        settings = config.train
        torch.manual_seed(settings.seed)  # the same first weights in every process
        self.config = config
        self.run_dir = run_dir
        self.material = material
        self.precision = precision
        self.workers = workers
        self.model = Transformer(config.model, material.tokenizer.vocab_size, PAD_ID)
        self.model.to(precision.device)
        torch.manual_seed(settings.seed + workers.rank)  # and its own dropout in each
        self.optimizer = make_optimizer(self.model, settings)
        self.scaler = precision.scaler()
        self.objective = self._objective()
        self.feed = Feed(config, material, workers)
        self.fingerprint = material.train.fingerprint
        self.judge = Judge(settings.judge, settings.patience)
        self.step = 0
        self.skipped_in_a_row = 0
        self.kept: list[tuple[int, float]] = []  # step and value of the checkpoints to average
        self.window = Window([])

    def events(self, stop: Callable[[], bool]) -> Iterator[Event]:
        """Steps until max_steps, counted from the very beginning of the run."""
        settings = self.config.train
        n_parameters = sum(parameter.numel() for parameter in self.model.parameters())
        yield Started(step=self.step, n_parameters=n_parameters, hardware=str(self.precision))
        if self.step >= settings.max_steps:
            done = f"{self.step} of {settings.max_steps} steps"
            yield Note(f"already done: {done}; raise train.max_steps to go on")
        elif self.judge.exhausted:
            yield Note(f"already done: {self._no_better()}; raise train.patience to go on")
        else:
            yield from self._steps(stop)
        if self.step >= settings.max_steps or self.judge.exhausted:
            yield from self._finish()

    def _steps(self, stop: Callable[[], bool]) -> Iterator[Event]:
        settings = self.config.train
        self.window = Window(self.window.results)
        if self.workers.first:
            self.run_dir.average.unlink(missing_ok=True)  # of an end that is no longer the end
        for group in prefetched(self.feed.after(self.step)):
            self.window.begin_step()
            result, stopped = self._optimize(group, stop())
            self.window.add(result)
            last = self.step == settings.max_steps
            if last or self.step % settings.log_every == 0:
                report = self.window.report(self.step, settings.max_steps)
                self._record(report)
                yield report
                self.window = Window([])
            if last or self.step % settings.validate_every == 0:
                validation = self._validate()
                self._record(validation)
                self._save(validation)
                yield validation
                self.window = Window(self.window.results)
                if self.judge.exhausted and not last:
                    yield Note(f"stopped early: {self._no_better()}")
                    return
            elif stopped or (settings.save_every and self.step % settings.save_every == 0):
                self._save(None)
            if stopped and not last:
                yield Stopped(step=self.step)
                return

    def _no_better(self) -> str:
        return f"{self.judge.since_best} validations without a better {self.judge.metric} on dev"

    def _optimize(self, group: Group, stop: bool) -> tuple[StepResult, bool]:
        """One optimizer step over the sum of several batches, divided once by all their tokens.

        Returns:
            The result, and whether any process was asked to stop.
        """
        assert self.model.training, "validation must give back training mode"
        settings, device = self.config.train, self.precision.device
        rate = learning_rate(self.step + 1, settings)
        set_learning_rate(self.optimizer, rate)
        own_tokens = group.weight * sum(batch.n_tokens for batch in group.batches)
        n_tokens, stopping = self.workers.add(own_tokens, float(stop), device=device)
        self.optimizer.zero_grad(set_to_none=True)
        own_loss = torch.zeros((), device=device)
        for number, batch in enumerate(group.batches, 1):
            with self._gradients_meet(number == len(group.batches)):
                with self.precision.autocast():
                    sums = self.objective(batch.to(device), settings.label_smoothing)
                # DistributedDataParallel takes the mean over processes, we want the sum
                share = group.weight * self.workers.world_size / n_tokens
                self.scaler.scale(sums.loss * share).backward()
            own_loss += group.weight * sums.loss.detach()
        self.scaler.unscale_(self.optimizer)
        norm = clip_gradients(self.model, settings.clip_norm)
        [loss] = self.workers.add(float(own_loss), device=device)
        finite = math.isfinite(norm) and math.isfinite(loss)
        if finite or self.scaler.is_enabled():  # which skips by itself, and lowers its scale
            self.scaler.step(self.optimizer)
            self.scaler.update()
        self.step += 1
        self._count_skipped(finite, rate, group)
        padding = sum(batch.padding for batch in group.batches) / len(group.batches)
        result = StepResult(loss, n_tokens, rate, norm, padding) if finite else None
        return result or StepResult(0.0, 0, rate, 0.0, padding, skipped=1), bool(stopping)

    def _count_skipped(self, finite: bool, rate: float, group: Group) -> None:
        self.skipped_in_a_row = 0 if finite else self.skipped_in_a_row + 1
        at_the_end = not finite and self.step == self.config.train.max_steps
        if self.skipped_in_a_row >= MOST_SKIPPED or at_the_end:
            some = ", ".join(map(str, group.indices[:5]))
            raise UserError(
                f"{self.run_dir.path}: loss or gradient is not finite at step {self.step}, the "
                f"{self.skipped_in_a_row}. in a row (lr {rate:.2e}; pairs {some}, ...); lower "
                "train.lr or raise train.warmup_steps; checkpoints from before are kept"
            )

    @contextmanager
    def _gradients_meet(self, now: bool) -> Iterator[None]:
        """Only the last batch of a step exchanges gradients between processes."""
        if isinstance(self.objective, nn.parallel.DistributedDataParallel) and not now:
            with self.objective.no_sync():
                yield
        else:
            yield

    def _objective(self) -> nn.Module:
        objective: nn.Module = Objective(self.model)
        if self.config.train.compile:
            objective = torch.compile(objective, dynamic=True)  # type: ignore[assignment]
        return self.workers.wrap(objective)

    def _validate(self) -> ValidationReport:
        """By the first process, for all: they wait here for what it found."""
        report = None
        if self.workers.first:
            scores = score(self.model, self.material, self.config, self.precision)
            best = self.judge.is_best(scores.of(self.judge.metric))
            report = self._validation_report(scores, best)
        report, self.judge = self.workers.from_first((report, self.judge))
        assert report is not None
        return report

    def _validation_report(self, scores: Scores, best: bool) -> ValidationReport:
        return ValidationReport(
            step=self.step, nll=scores.nll, chrf=scores.chrf, best=best, samples=scores.samples
        )

    def _record(self, report: StepReport | ValidationReport) -> None:
        if self.workers.first:
            self.run_dir.record(report)

    def _checkpoint(self, weights: Mapping[str, Any], metrics: Mapping[str, float]) -> Checkpoint:
        return Checkpoint(
            config=self.config,
            tokenizer=self.material.tokenizer,
            weights=weights,
            step=self.step,
            metrics=metrics,
        )

    def _save(self, validation: ValidationReport | None) -> None:
        """The state for resuming comes last: what it counts as saved has been saved. Only then are
        older files deleted that it no longer needs.

        Weights behind a gradient that was not finite are not trusted, so nothing is saved then.
        """
        random_states = self.workers.gather(self._random_state())  # all take part
        if self.workers.first and not self.skipped_in_a_row:
            metrics = {} if validation is None else {"nll": validation.nll, "chrf": validation.chrf}
            known = {name: value for name, value in metrics.items() if value is not None}
            checkpoint = self._checkpoint(self.model.state_dict(), known)
            save_checkpoint(self.run_dir.last, checkpoint)
            if validation is not None:
                if validation.best:
                    save_checkpoint(self.run_dir.best, checkpoint)
                self._keep(checkpoint)
            self.run_dir.save_state(self.config, self._state(random_states))
            self.run_dir.keep_only([step for step, _ in self.kept])
        self.workers.meet()

    def _keep(self, checkpoint: Checkpoint) -> None:
        """Adds it to those that are to be averaged, which stay the last or the best so many."""
        settings = self.config.train
        if not settings.average:
            return
        save_checkpoint(self.run_dir.kept(self.step), checkpoint)
        self.kept.append((self.step, checkpoint.metrics.get(settings.judge, 0.0)))
        if len(self.kept) > settings.average:
            worst = self.kept[0]
            if settings.average_of == "best":
                for other in self.kept[1:]:
                    worst = other if self.judge.better(worst[1], other[1]) else worst
            self.kept.remove(worst)

    def _finish(self) -> Iterator[Event]:
        """Averages what was kept for it; best.pt becomes the average if that is better on dev."""
        if not self.kept or self.run_dir.average.exists() or not self.workers.first:
            return
        own = {name: weight.clone() for name, weight in self.model.state_dict().items()}
        paths = [self.run_dir.kept(step) for step, _ in self.kept]
        averaged = average_weights(load_checkpoint(path).weights for path in paths)
        load_weights(self.model, averaged)
        scores = score(self.model, self.material, self.config, self.precision)
        load_weights(self.model, own)
        value = scores.of(self.judge.metric)
        report = self._validation_report(scores, value is not None and self.judge.is_best(value))
        checkpoint = self._checkpoint(averaged, scores.known())
        if report.best:
            save_checkpoint(self.run_dir.best, checkpoint)
        save_checkpoint(self.run_dir.average, checkpoint)
        yield Note(f"average of the checkpoints of steps {', '.join(str(s) for s, _ in self.kept)}")
        yield report

    def _state(self, random_states: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return {
            "step": self.step,
            "judge": [self.judge.best, self.judge.since_best],
            "kept": [list(entry) for entry in self.kept],
            "window": [asdict(result) for result in self.window.results],
            "weights": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "random": list(random_states),
            "vocabulary": self.material.tokenizer.fingerprint,
            "data": self.fingerprint,
        }

    def _random_state(self) -> dict[str, Any]:
        """Where the random numbers of this process stand."""
        state = {"cpu": torch.get_rng_state()}
        if self.precision.device.type == "cuda":
            state["cuda"] = torch.cuda.get_rng_state(self.precision.device)
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes back to a saved state.

        Raises:
            CheckpointError: it belongs to another vocabulary.
            UserError: the corpus or the number of processes has changed.
        """
        if state["vocabulary"] != self.material.tokenizer.fingerprint:
            raise CheckpointError(
                f"{self.run_dir.path}: last.pt has the vocabulary "
                f"{self.material.tokenizer.fingerprint}, resume.pt was trained with "
                f"{state['vocabulary']}; start a new run_dir"
            )
        if state["data"] != self.fingerprint:
            raise UserError(
                f"{self.run_dir.path}: the corpus has changed since the run was stopped; "
                "put it back, or start a new run_dir"
            )
        if len(state["random"]) != self.workers.world_size:
            raise UserError(
                f"{self.run_dir.path}: the run was stopped with {len(state['random'])} processes, "
                f"not {self.workers.world_size}; resume it with as many"
            )
        load_weights(self.model, state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])
        self.step = state["step"]
        self.judge.best, self.judge.since_best = state["judge"]
        self.kept = [(step, value) for step, value in state["kept"]]
        self.window = Window([StepResult(**result) for result in state["window"]])
        own = state["random"][self.workers.rank]
        torch.set_rng_state(own["cpu"])
        if self.precision.device.type == "cuda" and "cuda" in own:
            torch.cuda.set_rng_state(own["cuda"], self.precision.device)
