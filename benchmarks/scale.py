"""Whether memory and time per pair stay the same from a hundred thousand to ten million pairs.

    python benchmarks/scale.py

Trains one small model for a few steps on corpora of different size, each in a process of its own,
and prints a table: time to choose dev pairs and learn the vocabulary (from a sample), time to read,
encode and store a pair, speed of the steps, peak memory of the whole run. The corpora are made on
the spot from the words of data/handwritten, so no two lines are alike; ten million need 2 GB.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from translator.config import Config
from translator.events import Note, Started, StepReport
from translator.trainer import train

HERE = Path(__file__).resolve().parent
HANDWRITTEN = HERE.parent / "data" / "handwritten"


def write_corpus(path: Path, n_pairs: int) -> None:
    """Sentences of 3 to 15 words drawn from the hand-written ones; nonsense of natural length."""
    english: list[str] = []
    korean: list[str] = []
    for file in sorted(HANDWRITTEN.glob("*.tsv")):
        for line in file.read_text(encoding="utf-8").splitlines():
            src, tgt, _ = line.split("\t")
            english += src.split()
            korean += tgt.split()
    rng = random.Random(n_pairs)
    with open(path, "w", encoding="utf-8") as out:
        for _ in range(n_pairs):
            n = rng.randrange(3, 16)
            src = " ".join(rng.choices(english, k=n))
            tgt = " ".join(rng.choices(korean, k=max(2, n * 2 // 3)))
            out.write(f"{src}\t{tgt}\tany\n")


def measure(corpus: Path, run_dir: Path, steps: int) -> dict[str, float]:
    """Trains here, in this process.  -> seconds of preparation and of a step, peak memory in MB"""
    config = Config.from_dict(
        {
            "model": {"d_model": 128, "n_encoder_layers": 2, "n_decoder_layers": 2, "d_ff": 512},
            "tokenizer": {"vocab_size": 4000},
            "data": {"train": [str(corpus)], "dev_size": 200, "noise": 0.1},
            "train": {
                "run_dir": str(run_dir),
                "max_steps": steps,
                "max_tokens": 4096,
                "log_every": steps // 2,
                "validate_every": steps,
            },
        }
    )
    begun = time.perf_counter()
    learned = started = begun
    reports = []
    for event in train(config):
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
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
    }


def rounds(sizes: list[int], steps: int) -> Iterator[tuple[int, dict[str, float]]]:
    """Each size in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        for size in sizes:
            corpus = Path(folder) / f"corpus-{size}.tsv"
            write_corpus(corpus, size)
            command = [sys.executable, __file__, "--measure", str(corpus), "--steps", str(steps)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(done.stderr)
            yield size, json.loads(done.stdout)


def main() -> None:
    """Prints the table, or measures one corpus for the process that does."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 10_000_000])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure is not None:
        print(json.dumps(measure(args.measure, args.measure.with_suffix(""), args.steps)))
        return
    print("| pairs | vocabulary, s | encoding, µs a pair | target tokens/s | peak memory, MB |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for size, found in rounds(args.sizes, args.steps):
        each = 1e6 * found["encoding_seconds"] / size
        print(
            f"| {size:,} | {found['vocabulary_seconds']:.0f} | {each:.1f} | "
            f"{found['tokens_per_second']:,.0f} | {found['peak_rss_mb']:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
