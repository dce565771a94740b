"""What all translators share: the material, the clock, the line they print.

It runs in every environment, also where PyTorch must not be imported, so it imports nothing of it.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from memory import peak_rss_mb

BATCH: Final = 32
SINGLE_EVERY: Final = 5
"""Every fifth sentence is also translated alone."""
WARMUP: Final = 64
"""The first sentences, which are translated once before the clock runs."""

Ids = list[int]
Search = Callable[[Sequence[Ids]], Sequence[Sequence[int]]]
"""A batch of sources, tag to eos, in; what was written, in the same order, out."""


class Material(NamedTuple):
    """What memorising.py wrote. Ids are the project's own."""

    folder: Path
    sources: list[Ids]  # in ascending length
    pieces: list[str]  # in the order of their ids
    tags: list[int]
    never: list[int]  # ids that no translation may contain
    pad: int
    unk: int
    bos: int
    eos: int


def read_material(folder: Path) -> Material:
    """From the folder of memorising.py."""
    content = json.loads((folder / "material.json").read_text(encoding="utf-8"))
    del content["first_text"]
    return Material(folder=folder, **content)


def most_tokens(batch: Sequence[Ids]) -> int:
    """The cap that all have: 2 · S + 20 tokens, eos included, of the longest source."""
    return 2 * max(map(len, batch)) + 20


def rectangle(rows: Sequence[Ids], pad: int) -> list[Ids]:
    """The rows, filled up with padding at their ends."""
    longest = max(map(len, rows))
    return [row + [pad] * (longest - len(row)) for row in rows]


def arguments(description: str | None, forms: Sequence[str] = ("fp32",)) -> argparse.Namespace:
    """The command line that every translator understands."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", type=Path, required=True, help="folder of memorising.py")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--dtype", choices=forms, default=forms[0])
    parser.add_argument("--first", action="store_true", help="translate one sentence and end")
    return parser.parse_args()


def run(
    material: Material, search: Search, args: argparse.Namespace, versions: Mapping[str, str]
) -> None:
    """Measures and prints one line of JSON; with `--first` only translates the first sentence.

    Args:
        versions: of the libraries, by name
    """
    sources = material.sources
    if args.first:
        print(json.dumps(_cut(search(sources[:1])[0], sources[0], material.eos)), flush=True)
        return
    for batch in _batches(sources[:WARMUP], BATCH):
        search(batch)
    written, batched = _timed(search, sources, BATCH)
    alone = sources[::SINGLE_EVERY]
    search(alone[0:1])
    _, single = _timed(search, alone, 1)
    outputs = [_cut(ids, src, material.eos) for ids, src in zip(written, sources, strict=True)]
    figures: dict[str, Any] = {
        "sentences_per_second": len(sources) / batched,
        "single_ms": 1000 * single / len(alone),
        "peak_rss_mb": peak_rss_mb(),
        "outputs": outputs,
        "threads": args.threads,
    }
    print(json.dumps({**figures, **versions}), flush=True)


def _timed(search: Search, sources: Sequence[Ids], size: int) -> tuple[list[Sequence[int]], float]:
    """-> what was written, and the seconds that it took"""
    began = time.perf_counter()
    written = [ids for batch in _batches(sources, size) for ids in search(batch)]
    return written, time.perf_counter() - began


def _batches(sources: Sequence[Ids], size: int) -> Iterator[Sequence[Ids]]:
    return (sources[start : start + size] for start in range(0, len(sources), size))


def _cut(ids: Sequence[int], source: Ids, eos: int) -> list[int]:
    """Up to the first eos, without it, and up to the sentence's own cap: who goes on writing
    because of a longer neighbour is not punished for it.
    """
    row = [int(number) for number in ids]
    row = row[: row.index(eos)] if eos in row else row
    return row[: most_tokens([source])]
