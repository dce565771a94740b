"""The directory of a training run, and how a stopped run finds its way back to where it was.

last.pt, best.pt   whole translators (see checkpoint.py): the newest, and the best on dev
average.pt         the mean of several, when train.average asks for it
kept/step-N.pt     those that are to be averaged
resume.pt          what only resuming needs, complete in itself
metrics.jsonl      one JSON object for each report
tokens/            the encoded corpus
tensorboard/       the same reports for TensorBoard, when train.tensorboard asks for them
.lock              held by the process that trains here
"""

import dataclasses
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any, Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from translator.checkpoint import (
    CheckpointError,
    load_safely,
    save_atomically,
)
from translator.config import Config
from translator.errors import UserError
from translator.events import StepReport, ValidationReport
from translator.files import remove_leftovers, write_lines

STATE_FORMAT: Final = 2
_LOCK: Final = ".lock"
_CHECKPOINTS: Final = ("last.pt", "best.pt", "average.pt", "resume.pt")
_MAY_CHANGE: Final = {
    *("run_dir", "max_steps", "patience", "device", "compile"),
    *("log_every", "validate_every", "save_every", "n_samples", "tensorboard"),
    *("lr", "warmup_steps", "schedule"),
}


class RunDirectory:
    """Owns the files of one run; files that it did not write are never touched."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.last = self.path / "last.pt"
        self.best = self.path / "best.pt"
        self.average = self.path / "average.pt"
        self.tokens = self.path / "tokens"
        self.tensorboard = self.path / "tensorboard"
        self._kept = self.path / "kept"
        self._lock: int | None = None
        self._was_free = False
        self._resume = self.path / "resume.pt"
        self._metrics = self.path / "metrics.jsonl"

    def hold(self) -> None:
        """Takes the lock of a directory that has been used before.  Raises UserError when another
        process trains there.
        """
        if (self.path / _LOCK).exists() or self._resume.exists():
            self._acquire()

    def check_free(self, overwrite: bool) -> None:
        """Raises UserError when the directory holds a run that would be lost."""
        if overwrite or not any((self.path / name).exists() for name in _CHECKPOINTS):
            self._was_free = not overwrite
            return
        resumable = self._resume.exists() and self.last.exists()
        way = "--resume continues it, --overwrite" if resumable else "--overwrite"
        raise UserError(f"{self.path}: holds a run already; {way} starts again")

    def prepare(self) -> None:
        """Makes sure that the directory can be written, and takes its lock. Of what is in it only
        temporary files that a killed process left behind go.

        Raises UserError: it cannot be written, another process trains here, or has done so since
        `check_free` was asked.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            held = self._lock is not None
            self._acquire()
            if self._was_free and not held:
                self.check_free(overwrite=False)
            self.tokens.mkdir(exist_ok=True)
            if self._lock is not None or fcntl is None:
                remove_leftovers(self.path, "*.pt")
                remove_leftovers(self.path, self._metrics.name)
            with tempfile.TemporaryFile(dir=self.path):
                pass
        except OSError as error:
            raise self._not_writable(error) from None

    def clear(self) -> None:
        """Removes the files of an older run, when a new one is ready to begin."""
        for name in (*_CHECKPOINTS, self._metrics.name):
            (self.path / name).unlink(missing_ok=True)
        self.keep_only([])
        for curves in self.tensorboard.glob("events.out.tfevents.*"):
            curves.unlink(missing_ok=True)

    def release(self) -> None:
        """Lets another process train here."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def kept(self, step: int) -> Path:
        """Where the checkpoint of a step is kept for averaging."""
        return self._kept / f"step-{step:08}.pt"

    def keep_only(self, steps: Sequence[int]) -> None:
        """Deletes the checkpoints that are no longer to be averaged; no other file."""
        wanted = {self.kept(step).name for step in steps}
        for path in self._kept.glob("step-*.pt"):
            if path.name not in wanted:
                path.unlink(missing_ok=True)
        if self._kept.exists():
            remove_leftovers(self._kept, "*.pt")

    def load_state(self, config: Config) -> dict[str, Any]:
        """The state of a stopped run.

        Raises:
            UserError: there is none, or `config` describes another run than the one that was
                stopped.
        """
        if not self._resume.exists():
            again = (
                " --overwrite starts again" if self.last.exists() else " start one without --resume"
            )
            raise UserError(f"{self.path}: no saved run to resume;{again}")
        try:
            state = load_safely(self._resume)
        except CheckpointError:
            raise UserError(f"{self._resume}: damaged; {self._anew}") from None
        is_ours = isinstance(state.get("format"), int) and isinstance(state.get("config"), dict)
        if not is_ours or state["format"] != STATE_FORMAT:
            raise UserError(
                f"{self._resume}: not the state of a run of this version; --overwrite starts "
                f"again, or {self._anew}"
            )
        changed = _differences(state["config"], config.to_dict())
        if changed:
            raise UserError(
                f"{self.path}: --resume with other settings than the run began with: "
                f"{', '.join(changed)}; put them back, or {self._anew}"
            )
        return state

    def check_resumable(
        self, state: Mapping[str, Any], vocabulary: str, data: str, n_processes: int
    ) -> None:
        """Whether a saved state fits what the run has now.

        Args:
            vocabulary, data: fingerprints of the vocabulary and of the encoded corpus

        Raises:
            CheckpointError: last.pt has another vocabulary.
            UserError: the corpus or the number of processes has changed.
        """
        if state["vocabulary"] != vocabulary:
            raise CheckpointError(
                f"{self.path}: last.pt has the vocabulary {vocabulary}, resume.pt was trained "
                f"with {state['vocabulary']}; start a new run_dir"
            )
        if state["data"] != data:
            raise UserError(
                f"{self.path}: the corpus has changed since the run was stopped; put it back, or "
                f"{self._anew}"
            )
        if len(state["random"]) != n_processes:
            raise UserError(
                f"{self.path}: the run was stopped with {len(state['random'])} processes, "
                f"not {n_processes}; resume it with as many"
            )

    @property
    def _anew(self) -> str:
        return f"begin anew with its weights: --init-from {self.last} and another run_dir"

    def save_state(self, config: Config, state: Mapping[str, Any]) -> None:
        """Replaces the state that `load_state` returns."""
        save_atomically(self._resume, {"format": STATE_FORMAT, "config": config.to_dict(), **state})

    def amend_state(self, values: Mapping[str, Any]) -> None:
        """Replaces single values of the saved state."""
        save_atomically(self._resume, {**load_safely(self._resume), **values})

    def record(self, report: StepReport | ValidationReport) -> None:
        """One more line in metrics.jsonl."""
        values = dataclasses.asdict(report)
        known = {k: None if isinstance(v, float) and isnan(v) else v for k, v in values.items()}
        row = {"kind": type(report).__name__, **known}
        with open(self._metrics, "a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def _acquire(self) -> None:
        """Raises UserError when another process trains here. The lock ends with its process."""
        if self._lock is not None or fcntl is None:
            return
        try:
            lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise self._not_writable(error) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise UserError(
                f"{self.path}: another process trains here, or a training of this one was not "
                "closed; wait for it, or choose another run_dir"
            ) from None
        except OSError:  # a file system without locks
            os.close(lock)
            return
        self._lock = lock

    def _not_writable(self, error: OSError) -> UserError:
        return UserError(
            f"{self.path}: cannot be written: {error.strerror}; choose another run_dir"
        )

    def forget_after(self, step: int) -> None:
        """Takes back the reports of steps that were lost with the process that made them."""
        if not self._metrics.exists():
            return
        kept = []
        for line in self._metrics.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                if json.loads(line)["step"] <= step:
                    kept.append(line)
            except (json.JSONDecodeError, TypeError, KeyError):
                continue  # the empty end, or a line cut short by a kill
        write_lines(self._metrics, kept)


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Settings whose change would make it another run, with both values. Length, reports and
    learning rate may change.
    """
    shape_is_given = ("model", "tokenizer") if now["train"]["init_from"] else ()
    default = Config().to_dict()  # of a setting that is newer than the run
    return [
        f"{section}.{key} ({_shown(before[section].get(key, default[section][key]))} then, "
        f"{_shown(value)} now)"
        for section in ("model", "tokenizer", "data", "train")
        for key, value in now[section].items()
        if before[section].get(key, default[section][key]) != value
        and (section not in shape_is_given or key == "dropout")
        and not (section == "train" and key in _MAY_CHANGE)
    ]


def _shown(value: object) -> str:
    return "nothing" if value == "" else str(value)
