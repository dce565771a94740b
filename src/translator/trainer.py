"""The training loop. It yields what happens as events, prints nothing, and can be stopped and
resumed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch

from translator.averaging import average_weights
from translator.checkpoint import Checkpoint, load_checkpoint, load_weights, save_checkpoint
from translator.config import Config
from translator.distributed import Workers, leave
from translator.engine import check_precision
from translator.events import Event, Note, Started, StepReport, Stopped, ValidationReport
from translator.feed import Feed, epoch_note
from translator.hardware import (
    Precision,
    choose_device,
    keep_memory,
    random_state,
    set_random_state,
)
from translator.judge import Judge
from translator.model.transformer import Transformer
from translator.origin import find_origin, origin_note, with_shape_of
from translator.prefetch import prefetched
from translator.preparation import Material, prepare_together
from translator.progress import StepResult, Window
from translator.run_dir import RunDirectory
from translator.tokenizer import PAD_ID
from translator.updating import Updater
from translator.validation import check_judge, score


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
    keep_memory()  # before the first tensor
    device = choose_device(config.train.device)
    precision = Precision.choose(config.train.precision, device)
    check_judge(config)
    run_dir = RunDirectory(config.train.run_dir)
    workers = Workers.join(device)
    try:
        if workers.first:
            run_dir.hold()
        state = run_dir.load_state(config) if resume else None
        if not resume and workers.first:
            run_dir.check_free(overwrite)
        origin = find_origin(config, run_dir, resume)
        config = with_shape_of(origin, config)
        check_precision(config.decoding.precision, device)
        tokenizer = None if origin is None else origin.tokenizer
        material = yield from prepare_together(config, run_dir, tokenizer, workers)
        run = _Run(config, run_dir, material, precision, workers)
        if state is not None:
            run.restore(state)
        elif origin is not None:
            load_weights(run.model, origin.weights)
            if workers.first:
                yield origin_note(config, origin)
        workers.meet()
        if workers.first:
            if state is None:
                run_dir.clear()
            else:
                run_dir.forget_after(run.step)
            yield epoch_note(config, material, workers.world_size)
        for event in run.events(stop):
            if workers.first or isinstance(event, Stopped):
                yield event
    finally:
        run_dir.release()
        leave()


class _Run:
    """Model and position of one run."""

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
        self.updater = Updater(settings, self.model, precision, workers)
        self.feed = Feed(config, material, workers)
        self.data = material.train.fingerprint
        self.judge = Judge(settings.judge, settings.patience)
        self.step = 0
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
            if self.step:
                yield Note(f"goes on from step {self.step}")
            elif settings.init_from and len(self.material.dev) and self.judge.best is None:
                yield self._validate_and_save()  # what it starts from may remain the best
            yield from self._steps(stop)
        if self.step >= settings.max_steps or self.judge.exhausted:
            yield from self._finish()

    def _steps(self, stop: Callable[[], bool]) -> Iterator[Event]:
        settings = self.config.train
        self.window = Window(self.window.results)
        if self.workers.first:
            self.run_dir.average.unlink(missing_ok=True)  # out of date once the run goes on
        for group in prefetched(self.feed.after(self.step)):
            self.window.begin_step()
            result = self.updater.update(group, self.step + 1)
            self.step += 1
            self.window.add(result)
            [stopping] = self.workers.add(float(stop()), device=self.precision.device)
            last = self.step == settings.max_steps
            if last or self.step % settings.log_every == 0:
                report = self.window.report(self.step, settings.max_steps)
                self._record(report)
                yield report
                self.window = Window([])
            if last or self.step % settings.validate_every == 0:
                yield self._validate_and_save()
                self.window = Window(self.window.results)
                if self.judge.exhausted and not last:
                    yield Note(f"stopped early: {self._no_better()}")
                    return
            elif stopping or (settings.save_every and self.step % settings.save_every == 0):
                self._save(None)
            if stopping and not last:
                yield Stopped(step=self.step)
                return

    def _no_better(self) -> str:
        return f"{self.judge.since_best} validations without a better {self.judge.metric} on dev"

    def _validate_and_save(self) -> ValidationReport:
        validation = self._validate()
        self._record(validation)
        self._save(validation)
        return validation

    def _validate(self) -> ValidationReport:
        """By the first process, for all: they wait here for what it found."""
        report = None
        if self.workers.first:
            scores = score(self.model, self.material, self.config, self.precision)
            trusted = self.updater.trusted  # weights that are not saved are no best ones either
            best = trusted and self.judge.is_best(scores.of(self.judge.metric))
            report = scores.report(self.step, best=best, saved=trusted)
        report, self.judge = self.workers.from_first((report, self.judge))
        assert report is not None
        return report

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
        """The state for resuming comes last: everything it refers to must exist first. Only then
        are older files deleted that it no longer needs.
        """
        random_states = self.workers.gather(random_state(self.precision.device))  # all take part
        if self.workers.first and self.updater.trusted:
            metrics = {} if validation is None else validation.metrics
            checkpoint = self._checkpoint(self.model.state_dict(), metrics)
            save_checkpoint(self.run_dir.last, checkpoint)
            if validation is not None:
                if validation.best:
                    save_checkpoint(self.run_dir.best, checkpoint)
                if self.step:
                    self._keep(checkpoint)
            self.run_dir.save_state(self.config, self._state(random_states))
            self.run_dir.keep_only([step for step, _ in self.kept])
        self.workers.meet()

    def _keep(self, checkpoint: Checkpoint) -> None:
        """Adds it to those that are to be averaged: the last `train.average`, or the best."""
        settings = self.config.train
        if not settings.average:
            return
        save_checkpoint(self.run_dir.kept(self.step), checkpoint)
        self.kept.append((self.step, checkpoint.metrics.get(settings.judge, 0.0)))
        if len(self.kept) > settings.average:
            values = [value for _, value in self.kept]
            del self.kept[self.judge.worst(values) if settings.average_of == "best" else 0]

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
        best = value is not None and self.judge.is_best(value)
        report = scores.report(self.step, best=best, saved=True)
        checkpoint = self._checkpoint(averaged, report.metrics)
        if best:
            save_checkpoint(self.run_dir.best, checkpoint)
            self.run_dir.amend_state({"judge": self._judged()})
        save_checkpoint(self.run_dir.average, checkpoint)
        yield Note(f"average of the checkpoints of steps {', '.join(str(s) for s, _ in self.kept)}")
        self._record(report)
        yield report

    def _judged(self) -> list[Any]:
        return [self.judge.best, self.judge.since_best]

    def _state(self, random_states: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return {
            "step": self.step,
            "judge": self._judged(),
            "kept": [list(entry) for entry in self.kept],
            "window": [asdict(result) for result in self.window.results],
            "weights": self.model.state_dict(),
            **self.updater.state(),
            "random": list(random_states),
            "vocabulary": self.material.tokenizer.fingerprint,
            "data": self.data,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes back to a saved state.  Raises UserError: it belongs to another run."""
        vocabulary = self.material.tokenizer.fingerprint
        self.run_dir.check_resumable(state, vocabulary, self.data, self.workers.world_size)
        load_weights(self.model, state["weights"])
        self.updater.restore(state)
        self.step = state["step"]
        self.judge.best, self.judge.since_best = state["judge"]
        self.kept = [(step, value) for step, value in state["kept"]]
        self.window = Window([StepResult(**result) for result in state["window"]])
        set_random_state(state["random"][self.workers.rank], self.precision.device)
