"""The directory of a training run, and how a stopped run finds back to where it was.

last.pt, best.pt   whole translators (see checkpoint.py): the newest, and the best on dev
resume.pt          what only resuming needs, complete in itself
metrics.jsonl      one JSON object for each report
tokens/            the encoded corpus
"""

import dataclasses
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from translator.checkpoint import load_safely, remove_leftovers, save_atomically
from translator.config import Config
from translator.errors import UserError
from translator.events import StepReport, ValidationReport

_CHECKPOINTS: Final = ("last.pt", "best.pt", "resume.pt")
_LENGTH_AND_REPORTS: Final = {"run_dir", "max_steps", "log_every", "validate_every", "n_samples"}
_LEARNING_RATE: Final = {"lr", "warmup_steps", "schedule"}


class RunDirectory:
    """Owns the files of one run; files that it did not write are never touched."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.last = self.path / "last.pt"
        self.best = self.path / "best.pt"
        self.tokens = self.path / "tokens"
        self._resume = self.path / "resume.pt"
        self._metrics = self.path / "metrics.jsonl"

    def check_free(self, overwrite: bool) -> None:
        """Raises UserError when the directory holds a run that would be lost."""
        if overwrite or not any((self.path / name).exists() for name in _CHECKPOINTS):
            return
        resumable = self._resume.exists() and self.last.exists()
        way = "--resume continues it, --overwrite" if resumable else "--overwrite"
        raise UserError(f"{self.path}: holds a run already; {way} starts again")

    def prepare(self) -> None:
        """Makes sure that the directory can be written; touches nothing in it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.tokens.mkdir(exist_ok=True)
            remove_leftovers(self.path)
            with tempfile.TemporaryFile(dir=self.path):
                pass
        except OSError as error:
            raise UserError(
                f"{self.path}: cannot be written: {error.strerror}; choose another run_dir"
            ) from None

    def clear(self) -> None:
        """Removes the files of an older run, when a new one is ready to begin."""
        for name in (*_CHECKPOINTS, self._metrics.name):
            (self.path / name).unlink(missing_ok=True)

    def load_state(self, config: Config) -> dict[str, Any]:
        """The state of a stopped run; later reports than it are taken back.

        Raises:
            UserError: there is none, or `config` describes another run than the one that was
                stopped.
        """
        if not self._resume.exists():
            again = (
                " --overwrite starts again" if self.last.exists() else " start one without --resume"
            )
            raise UserError(f"{self.path}: no saved run to resume;{again}")
        state = load_safely(self._resume)
        if not {"config", "step", "vocabulary", "data"} <= state.keys():
            raise UserError(f"{self._resume}: not the state of a run; --overwrite starts again")
        remove_leftovers(self.path)
        changed = _differences(state["config"], config.to_dict())
        if changed:
            raise UserError(
                f"{self.path}: --resume with another {' and '.join(changed)} than the run began "
                "with; put it back, or start a new run_dir"
            )
        self._forget_after(state["step"])
        return state

    def save_state(self, config: Config, state: Mapping[str, Any]) -> None:
        """Replaces the state that `load_state` returns."""
        save_atomically(self._resume, {"config": config.to_dict(), **state})

    def record(self, report: StepReport | ValidationReport) -> None:
        """One more line in metrics.jsonl."""
        row = {"kind": type(report).__name__, **dataclasses.asdict(report)}
        with open(self._metrics, "a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def _forget_after(self, step: int) -> None:
        """Takes back the reports of steps that were lost with the process that made them."""
        if not self._metrics.exists():
            return
        kept = []
        for line in self._metrics.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                if json.loads(line)["step"] <= step:
                    kept.append(line + "\n")
            except (json.JSONDecodeError, TypeError, KeyError):
                continue  # the empty end, or a line cut short by a kill
        temporary = self._metrics.with_suffix(".tmp")
        temporary.write_text("".join(kept), encoding="utf-8")
        os.replace(temporary, self._metrics)


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Dotted keys whose change would make it another run. Length, reports and learning rate may
    change.
    """
    return [
        f"{section}.{key}"
        for section in ("model", "tokenizer", "data", "train")
        for key, value in now[section].items()
        if before[section].get(key) != value
        and not (section == "train" and key in _LENGTH_AND_REPORTS | _LEARNING_RATE)
    ]
