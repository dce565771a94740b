"""JoeyNMT 2.3.0, trained by its own command, `python -m joeynmt train`, and watched from outside.

The command runs inside this process. So the clock sees its optimizer, its memory is that of this
process, and each batch is counted where JoeyNMT makes it. It has no bfloat16 on a CPU.
"""

import re
import runpy
import statistics
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import joeynmt.datasets
import yaml
from peer_models.joeynmt import model_settings

from participants.measuring import (
    CLIP_NORM,
    LABEL_SMOOTHING,
    MAX_LEN,
    MAX_TOKENS,
    SEED,
    WARMUP,
    BatchCounter,
    Result,
    StepClock,
    arguments,
)

SETTINGS: Final = Path(__file__).with_suffix(".yaml")


def configuration(data: Path, work: Path, steps: int) -> dict[str, Any]:
    """JoeyNMT's settings: the sizes of the benchmark, no validation, one log line per WARMUP steps.

    Its texts are pieces already, so it only splits them at spaces, which spares it the tokenizing.
    """
    found: dict[str, Any] = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))
    found |= {"model_dir": str(work / "model"), "random_seed": SEED}
    found["data"] |= {
        "train": str(data / "train"),
        "dev": str(data / "dev"),
        "test": str(data / "dev"),
        "src": _side("en", data),
        "trg": _side("ko", data),
    }
    found["training"] |= {
        "clip_grad_norm": CLIP_NORM,
        "label_smoothing": LABEL_SMOOTHING,
        "batch_size": MAX_TOKENS,
        "epochs": WARMUP + steps,  # more than enough: `updates` ends the training
        "updates": WARMUP + steps,
        "logging_freq": WARMUP,
        "validation_freq": WARMUP * (WARMUP + steps),  # never; a multiple of logging_freq
    }
    found["model"] |= model_settings(norm_first=True)
    return found


def _side(language: str, data: Path) -> dict[str, Any]:
    return {
        "lang": language,
        "level": "word",
        "max_length": MAX_LEN,
        "voc_file": str(data / "vocab.txt"),
    }


def count_batches(counter: BatchCounter) -> None:
    """From now on each batch is counted when JoeyNMT makes it, which is right before its step."""
    make = joeynmt.datasets.Batch

    def counted(*args: Any, **kwargs: Any) -> Any:
        batch = make(*args, **kwargs)
        source_tokens = int(batch.src_length.sum())
        counter.add(source_tokens, int(batch.ntokens), batch.src.numel() + batch.trg.numel())
        return batch

    joeynmt.datasets.Batch = counted


class Logged(NamedTuple):
    """One line of JoeyNMT's log."""

    loss: float  # of the last batch only
    tokens_per_second: float  # since the line before


def read_log(path: Path) -> list[Logged]:
    """The lines about steps, in order."""
    line = re.compile(r"Step:\s*\d+, Batch Loss:\s*([\w.]+),.*Tokens per Sec:\s*(\d+)")
    found = line.findall(path.read_text(encoding="utf-8"))
    return [Logged(float(loss), float(speed)) for loss, speed in found]


def main() -> None:
    """Trains for the steps asked for and prints what was measured."""
    args = arguments(__doc__, dtypes=("fp32",))
    args.work.mkdir(parents=True)
    config = args.work / "config.yaml"
    settings = configuration(args.data, args.work, args.steps)
    config.write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")
    counter = BatchCounter(args.steps)
    count_batches(counter)
    sys.argv = ["joeynmt", "train", str(config), "--skip-test"]
    with StepClock(args.steps) as clock:
        runpy.run_module("joeynmt", run_name="__main__", alter_sys=True)
    log = read_log(args.work / "model" / "train.log")
    Result(
        name="joeynmt",
        dtype="fp32",
        target_tokens=counter.target_tokens,
        seconds=clock.seconds,
        padding=counter.padding,
        peak_rss_mb=clock.peak_rss_mb,
        loss_first=log[0].loss,
        loss_last=log[-1].loss,
        self_reported=statistics.fmean(entry.tokens_per_second for entry in log[1:]),
        parameters=clock.parameters,
    ).print()


if __name__ == "__main__":
    main()
