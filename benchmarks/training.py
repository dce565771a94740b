"""How fast this project trains beside its peers: one command, one table.

    python benchmarks/training.py --peers DIR

DIR holds the environments that benchmarks/setup_peers.sh makes. Every participant runs in a process
of its own, one after the other, with the same corpus, vocabulary, sizes and threads. This process
stays small and imports no PyTorch: on Linux a child's peak memory is never below its parent's.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from comparing import Participant, check, corpus_entries, make_parser, save, taking_part
from processes import Processes, ProcessFailed
from reporting import cell, markdown, median, say

LOG_EVERY: Final = 10
"""Participants report the mean loss of this many steps, so `--steps` is a multiple of it."""

TITLES: Final = {
    "ours": "**translator (this project)**",
    "plain_torch": "torch.nn.Transformer, plain loop",
    "hf": "Hugging Face MarianMTModel",
    "joeynmt": "JoeyNMT",
}
PARTICIPANTS: Final = (
    Participant("ours", "fp32"),
    Participant("ours", "bf16"),
    Participant("plain_torch", "fp32", "hf"),
    Participant("plain_torch", "bf16", "hf"),
    Participant("hf", "fp32", "hf"),
    Participant("hf", "bf16", "hf"),
    Participant("joeynmt", "fp32", "joeynmt"),
)
DEFAULT_DTYPE: Final = "fp32"
"""What every peer computes in unless it is told otherwise."""


@dataclass(frozen=True)
class Round:
    """Every participant once."""

    peak: dict[str, float]  # floating-point operations a second in each number format
    results: dict[Participant, dict[str, Any]]

    def speed(self, who: Participant) -> float:
        """Real target tokens a second."""
        result = self.results[who]
        return float(result["target_tokens"] / result["seconds"])

    def over_fastest_peer(self, who: Participant, dtype: str) -> float | None:
        """Its speed over that of the fastest peer in this format; None when no such peer ran."""
        peers = [peer for peer in self.results if peer.environment and peer.dtype == dtype]
        return self.speed(who) / max(map(self.speed, peers)) if peers else None

    def share_of_peak(self, who: Participant) -> float | None:
        """Its operations a second over those of the best matrix product; None if not counted."""
        done = self.results[who]["flops_per_second"]
        return None if done is None else float(done / self.peak[who.dtype])


class Row(NamedTuple):
    """One line of the table, medians over the rounds."""

    name: str
    dtype: str
    tokens_per_second: float
    over_fastest_default_peer: float | None
    over_fastest_peer_of_dtype: float | None
    padding: float
    peak_rss_mb: float
    share_of_peak: float | None


class Bench:
    """Starts the processes; all their files lie in one folder that is deleted at the end."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self._processes = Processes(args.threads, args.peers)
        self._steps = args.steps
        self._only = args.only
        self._folder = folder
        self._data = folder / "data"

    def prepare(self, entries: Sequence[str]) -> dict[str, Any]:
        """Corpus, vocabulary, and the count of what our trainer computes.  -> how large it is"""
        say("corpus and vocabulary")
        size = self._processes.run("preparation", "--out", str(self._data), *entries)
        if any(who.module == "ours" for who in taking_part(PARTICIPANTS, self._only)):
            say("operations of our trainer")
            work = str(self._folder / "counting")
            counting = ("--data", str(self._data), "--work", work, "--steps", str(self._steps))
            size["counted"] = self._processes.run("counting", *counting)
        return size

    def round(self, number: int) -> Round:
        """Every participant once; the peak before and after."""
        peaks = [self._processes.run("matmul_peak")]
        results = {
            who: self._measure(who, number) for who in taking_part(PARTICIPANTS, self._only, number)
        }
        peaks.append(self._processes.run("matmul_peak"))
        best = {dtype: max(peak[dtype] for peak in peaks) for dtype in ("fp32", "bf16")}
        return Round(best, {who: results[who] for who in taking_part(PARTICIPANTS, self._only)})

    def _measure(self, who: Participant, number: int) -> dict[str, Any]:
        work = self._folder / f"{who.module}-{who.dtype}-{number}"
        settings = ("--steps", str(self._steps), "--dtype", who.dtype)
        module = f"participants.{who.module}"
        places = ("--data", str(self._data), "--work", str(work))
        result = self._processes.run(module, *places, *settings, environment=who.environment)
        speed = result["target_tokens"] / result["seconds"]
        say(f"round {number + 1}: {who.module} {who.dtype}: {speed:,.0f} target tokens/s")
        return result


def summarise(rounds: Sequence[Round]) -> list[Row]:
    """The table's rows. Ratios are taken within a round, then their median."""
    return [
        Row(
            name=TITLES[who.module],
            dtype=who.dtype,
            tokens_per_second=statistics.median(found.speed(who) for found in rounds),
            over_fastest_default_peer=median(
                [found.over_fastest_peer(who, DEFAULT_DTYPE) for found in rounds]
            ),
            over_fastest_peer_of_dtype=median(
                [found.over_fastest_peer(who, who.dtype) for found in rounds]
            ),
            padding=statistics.median(found.results[who]["padding"] for found in rounds),
            peak_rss_mb=statistics.median(found.results[who]["peak_rss_mb"] for found in rounds),
            share_of_peak=median([found.share_of_peak(who) for found in rounds]),
        )
        for who in rounds[0].results
    ]


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown."""
    head = (
        "participant",
        "dtype",
        "target tokens/s",
        "× fastest peer by default",
        "× fastest peer, same dtype",
        "padding",
        "peak memory, MB",
        "share of matmul peak",
    )
    lines = [
        (
            row.name,
            row.dtype,
            f"{row.tokens_per_second:,.0f}",
            cell(row.over_fastest_default_peer, ".2f"),
            cell(row.over_fastest_peer_of_dtype, ".2f"),
            f"{row.padding:.1%}",
            f"{row.peak_rss_mb:,.0f}",
            cell(row.share_of_peak, ".0%"),
        )
        for row in rows
    ]
    return markdown([head, *lines], n_text=2)


def _conditions(args: argparse.Namespace, size: dict[str, Any], rounds: Sequence[Round]) -> str:
    """One line that says under what conditions the table came about."""
    peaks = ", ".join(
        f"{dtype} {statistics.median(found.peak[dtype] for found in rounds) / 1e9:,.0f} GFLOP/s"
        for dtype in ("fp32", "bf16")
    )
    return (
        f"{size['pairs']:,} pairs, {size['vocabulary']:,} pieces, {args.threads} threads, "
        f"{args.steps} steps, median of {args.rounds} rounds; matmul peak {peaks}"
    )


def _everything(
    args: argparse.Namespace, size: dict[str, Any], rounds: Sequence[Round], rows: Sequence[Row]
) -> dict[str, Any]:
    """Every figure of every round, and the table."""
    return {
        "settings": {"steps": args.steps, "rounds": args.rounds, "threads": args.threads},
        "corpus": size,
        "rounds": [
            {"peak": found.peak, "results": list(found.results.values())} for found in rounds
        ],
        "table": [row._asdict() for row in rows],
    }


def _arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, TITLES, threads=2)
    parser.add_argument("--steps", type=int, default=60, help="timed steps, a multiple of 10")
    args = parser.parse_args()
    if args.steps < LOG_EVERY or args.steps % LOG_EVERY:
        parser.error(f"--steps: {args.steps} is not a multiple of {LOG_EVERY}")
    check(parser, args, PARTICIPANTS)
    return args


def main() -> None:
    """Measures, prints the table on stdout and progress on stderr."""
    args = _arguments()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        bench = Bench(args, Path(folder).resolve())
        try:
            size = bench.prepare(corpus_entries(args))
            rounds = [bench.round(number) for number in range(args.rounds)]
        except ProcessFailed as failure:
            raise SystemExit(str(failure)) from None
    rows = summarise(rounds)
    print(table(rows))
    print(f"\n{_conditions(args, size, rounds)}")
    if args.out is not None:
        save(args.out, _everything(args, size, rounds, rows))


if __name__ == "__main__":
    main()
