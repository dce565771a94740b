"""JoeyNMT 2.3.0, trained by its own command, `python -m joeynmt train`, and watched from outside.

The command runs inside this process. So the clock sees its optimizer, its memory is that of this
process, and each batch is counted where JoeyNMT makes it. It has no bfloat16 on a CPU.
"""

import re
import runpy
import statistics
import sys
from pathlib import Path
from typing import Any, NamedTuple

import joeynmt.datasets
import yaml

from participants.measuring import (
    CLIP_NORM,
    D_FF,
    D_MODEL,
    DROPOUT,
    LABEL_SMOOTHING,
    MAX_LEN,
    MAX_TOKENS,
    N_HEADS,
    N_LAYERS,
    SEED,
    WARMUP,
    BatchCounter,
    Result,
    StepClock,
    arguments,
)


def configuration(data: Path, work: Path, steps: int) -> dict[str, Any]:
    """JoeyNMT's settings: the sizes of the benchmark, no validation, one log line per WARMUP steps.

    Its texts are pieces already, so it only splits them at spaces, which spares it the tokenizing.
    """
    dev = str(data / "dev")
    return {
        "name": "benchmark",
        "joeynmt_version": "2.3.0",
        "model_dir": str(work / "model"),
        "use_cuda": False,
        "fp16": False,
        "random_seed": SEED,
        "data": {
            "dataset_type": "plain",
            "train": str(data / "train"),
            "dev": dev,
            "test": dev,
            "src": _side("en", data),
            "trg": _side("ko", data),
            "special_symbols": {  # in the order of vocab.txt
                "unk_token": "<unk>",
                "pad_token": "<pad>",
                "bos_token": "<s>",
                "eos_token": "</s>",
                "unk_id": 0,
                "pad_id": 1,
                "bos_id": 2,
                "eos_id": 3,
            },
        },
        "testing": {"beam_size": 1},
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "learning_rate": 7.0e-4,
            "learning_rate_min": 1.0e-9,
            "learning_rate_warmup": 400,
            "scheduling": "warmupinversesquareroot",
            "clip_grad_norm": CLIP_NORM,
            "weight_decay": 0.0,
            "loss": "crossentropy",
            "label_smoothing": LABEL_SMOOTHING,
            "normalization": "tokens",
            "batch_type": "token",
            "batch_size": MAX_TOKENS,
            "epochs": WARMUP + steps,  # more than enough: `updates` ends the training
            "updates": WARMUP + steps,
            "logging_freq": WARMUP,
            "validation_freq": WARMUP * (WARMUP + steps),  # never; a multiple of logging_freq
            "early_stopping_metric": "ppl",
            "overwrite": True,
            "keep_best_ckpts": 1,
        },
        "model": {
            "initializer": "xavier_uniform",
            "bias_initializer": "zeros",
            "embed_initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": _stack(),
            "decoder": _stack(),
        },
    }


def _side(language: str, data: Path) -> dict[str, Any]:
    return {
        "lang": language,
        "level": "word",
        "max_length": MAX_LEN,
        "voc_file": str(data / "vocab.txt"),
    }


def _stack() -> dict[str, Any]:
    return {
        "type": "transformer",
        "num_layers": N_LAYERS,
        "num_heads": N_HEADS,
        "embeddings": {"embedding_dim": D_MODEL, "scale": True},
        "hidden_size": D_MODEL,
        "ff_size": D_FF,
        "dropout": DROPOUT,
        "layer_norm": "pre",
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
    clock, counter = StepClock(args.steps), BatchCounter(args.steps)
    count_batches(counter)
    sys.argv = ["joeynmt", "train", str(config), "--skip-test"]
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
