"""`translator train`: shows the events of a run, a bar on a terminal and plain lines in a log."""

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any, Never

from tqdm import tqdm

from translator.config import Config
from translator.errors import UserError
from translator.events import Event, Note, Started, StepReport, Stopped, ValidationReport
from translator.run_dir import RunDirectory
from translator.tensorboard import Board
from translator.trainer import train


def run(args: argparse.Namespace) -> int:
    """Trains, or resumes; everything it shows goes to stderr.  -> exit status"""
    config = _config(args)
    run_dir = RunDirectory(config.train.run_dir)
    board = Board(run_dir.tensorboard) if config.train.tensorboard else None
    request, screen = _StopRequest(), _Screen(config.train.max_steps)
    stopped = None
    with request.listening():
        try:
            events = train(config, resume=args.resume, overwrite=args.overwrite, stop=request)
            for event in events:
                if isinstance(event, Started):
                    request.can_wait = True
                if isinstance(event, Stopped):
                    stopped = event
                screen.show(event)
                if board is not None:
                    board.show(event)
        finally:
            screen.close()
            if board is not None:
                board.close()
    if stopped is not None:
        print(f"stopped at step {stopped.step}; --resume goes on from there", file=sys.stderr)
        return 128 + (request.signal or signal.SIGTERM)
    if screen.used:  # of several processes only the first tells
        print(f"done: {run_dir.path}", file=sys.stderr)
    return 0


def _config(args: argparse.Namespace) -> Config:
    """The file, with what the command line says otherwise."""
    config = Config.from_yaml(args.config, args.set)
    if args.init_from is None:
        return config
    if not args.init_from:
        raise UserError('--init-from: name a checkpoint, a run directory, or "pretrained"')
    # a path as it is, not a value in YAML, in which " #" begins a comment
    return replace(config, train=replace(config.train, init_from=args.init_from))


class _StopRequest:
    """Whether Ctrl-C or SIGTERM has come. The step in hand is finished and saved; a second signal
    ends the process at once, as the first one does while there is nothing to save.
    """

    def __init__(self) -> None:
        self.can_wait = False
        self.signal: int | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __call__(self) -> bool:
        return self.signal is not None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """The signals come here inside, and go where they went before afterwards."""
        self._before = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            for name in self._before:
                signal.signal(name, self._take)
            yield
        finally:
            for name, handler in self._before.items():
                signal.signal(name, handler)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self.can_wait and self.signal is None:
            self.signal = number
            return
        signal.signal(number, self._before[signal.Signals(number)])
        signal.raise_signal(number)


class _Screen:
    """A bar with the figures on a terminal, else one line for each event."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._on_terminal = sys.stderr.isatty()
        self._bar: tqdm[Never] | None = None  # before the first event it would be in its way
        self.used = False

    def show(self, event: Event) -> None:
        """Writes what there is to say."""
        self.used = True
        if self._on_terminal and isinstance(event, StepReport | Started):
            if self._bar is None:
                self._bar = self._new_bar(event.step)
            self._bar.update(event.step - self._bar.n)
        if self._bar is not None and isinstance(event, StepReport):
            self._bar.set_postfix_str(_progress(event))
            return
        for line in self._lines(event):
            tqdm.write(line, file=sys.stderr)

    def close(self) -> None:
        """The bar stays as it is."""
        if self._bar is not None:
            self._bar.close()

    def _new_bar(self, done: int) -> "tqdm[Never]":
        """From `done` steps on, which a run had made before it was stopped."""
        return tqdm(
            total=self._total, initial=done, file=sys.stderr, unit="step", dynamic_ncols=True
        )

    def _lines(self, event: Event) -> list[str]:
        if isinstance(event, Note):
            return [event.text]
        if isinstance(event, Started):
            size = f"{event.n_parameters / 1e6:.2f} million parameters"
            return [f"model: {size}, {event.hardware}"]
        if isinstance(event, StepReport):
            left = _duration(event.seconds_left)
            return [f"step {event.step}/{self._total}  {_progress(event)}  left {left}"]
        if isinstance(event, ValidationReport):
            return _judgement(event, self._total)
        return []


def _judgement(event: ValidationReport, total: int) -> list[str]:
    line = f"step {event.step}/{total}"
    if event.nll is not None:
        line += f"  dev nll {event.nll:.4f}"
    if event.chrf is not None:
        line += f"  chrF {event.chrf:.2f}"
    if event.best and event.nll is not None:
        line += " (best so far)"
    saved = "saved" if event.saved else "not saved (the last gradient was not finite)"
    lines = [f"{line}  {saved}"]
    for sample in event.samples:
        lines += [
            f"    {sample.src} ({sample.level})",
            f"    = {sample.reference}",
            f"    > {sample.translation}",
        ]
    return lines


def _progress(event: StepReport) -> str:
    skipped = f"  skipped {event.skipped}" if event.skipped else ""
    waiting = f"  waiting for data {event.waiting:.0%}" if event.waiting >= 0.02 else ""
    return (
        f"loss {event.loss:.4f}  lr {event.lr:.2e}  grad {event.grad_norm:.2f}  "
        f"{event.tokens_per_second:,.0f} tokens/s  padding {event.padding:.0%}{waiting}{skipped}"
    )


def _duration(seconds: float) -> str:
    """75 -> "1 min 15 s"; from an hour on without the seconds."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
