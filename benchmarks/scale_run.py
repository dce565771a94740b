"""Trains one small model on one corpus of scale.py and prints what it took."""

import argparse
import json
import time
from pathlib import Path

import torch
from memory import peak_rss_mb

from translator.config import Config
from translator.events import Note, Started, StepReport
from translator.trainer import train


def main() -> None:
    """Measures and prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="TSV file of pairs")
    parser.add_argument("--work", type=Path, required=True, help="new folder for its own files")
    parser.add_argument("--steps", type=int, required=True, help="optimizer steps")
    args = parser.parse_args()
    found = measure(args.corpus, args.work, args.steps)
    print(json.dumps({**found, "threads": torch.get_num_threads()}))


def measure(corpus: Path, run_dir: Path, steps: int) -> dict[str, float]:
    """-> seconds of preparation, speed of the second half of the steps, peak memory in MiB"""
    begun = time.perf_counter()
    learned = started = begun
    reports = []
    for event in train(configuration(corpus, run_dir, steps)):
        if isinstance(event, Note) and event.text.startswith("vocabulary: "):
            learned = time.perf_counter()
        if isinstance(event, Started):
            started = time.perf_counter()
        if isinstance(event, StepReport):
            reports.append(event)
    return {
        "vocabulary_seconds": learned - begun,
        "encoding_seconds": started - learned,
        "tokens_per_second": reports[-1].tokens_per_second,
        "peak_rss_mb": peak_rss_mb(),
    }


def configuration(corpus: Path, run_dir: Path, steps: int) -> Config:
    """The small model, and reports in the middle and at the end."""
    return Config.from_dict(
        {
            "model": {"d_model": 128, "n_encoder_layers": 2, "n_decoder_layers": 2, "d_ff": 512},
            "tokenizer": {"vocab_size": 4000},
            "data": {"train": [str(corpus)], "dev_size": 200, "noise": 0.1},
            "train": {
                "run_dir": str(run_dir),
                "max_steps": steps,
                "max_tokens": 4096,
                "log_every": (steps + 1) // 2,
                "validate_every": steps,
            },
        }
    )


if __name__ == "__main__":
    main()
