"""Whether memory and time per pair stay the same from a hundred thousand to ten million pairs.

    python benchmarks/scale.py

Trains one small model for a few steps on corpora of different size, each in a process of its own,
and prints a table: time to choose dev pairs and learn the vocabulary (from a sample), time to read,
encode and store a pair, speed of the steps, peak memory of the whole run. The corpora are made on
the spot from the words of data/handwritten, so no two lines are alike; ten million need 2 GB.
"""

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from processes import HERE, Processes, ProcessFailed
from reporting import markdown, table_line

HANDWRITTEN: Final = HERE.parent / "data" / "handwritten"
HEAD: Final = (
    "pairs",
    "vocabulary, s",
    "encoding, µs a pair",
    "target tokens/s",
    "peak memory, MB",
)


def write_corpus(path: Path, n_pairs: int) -> None:
    """Sentences of 3 to 15 words drawn from the hand-written ones; nonsense of natural length."""
    english: list[str] = []
    korean: list[str] = []
    for file in sorted(HANDWRITTEN.glob("*.tsv")):
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                src, tgt, _ = line.split("\t")
                english += src.split()
                korean += tgt.split()
    rng = random.Random(n_pairs)
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        for _ in range(n_pairs):
            n = rng.randrange(3, 16)
            src = " ".join(rng.choices(english, k=n))
            tgt = " ".join(rng.choices(korean, k=max(2, n * 2 // 3)))
            out.write(f"{src}\t{tgt}\tany\n")


def measured(
    sizes: Sequence[int], steps: int, threads: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each size in a process of its own.  Raises ProcessFailed."""
    processes = Processes(threads)
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        for size in sizes:
            corpus = Path(folder).resolve() / f"corpus-{size}.tsv"
            write_corpus(corpus, size)
            places = ("--corpus", str(corpus), "--work", str(corpus.with_suffix("")))
            yield size, processes.run("scale_run", *places, "--steps", str(steps))


def row(size: int, found: dict[str, Any]) -> list[str]:
    """The cells of one line of the table."""
    return [
        f"{size:,}",
        f"{found['vocabulary_seconds']:.0f}",
        f"{1e6 * found['encoding_seconds'] / size:.1f}",
        f"{found['tokens_per_second']:,.0f}",
        f"{found['peak_rss_mb']:,.0f}",
    ]


def main() -> None:
    """Prints the table, each line as soon as it is known."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 10_000_000])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    if min(*args.sizes, args.steps, args.threads) < 1:
        parser.error("--sizes, --steps and --threads are at least 1")
    print(markdown([HEAD], n_text=0), flush=True)
    try:
        for size, found in measured(args.sizes, args.steps, args.threads):
            print(table_line(row(size, found)), flush=True)
    except ProcessFailed as failure:
        raise SystemExit(str(failure)) from None


if __name__ == "__main__":
    main()
