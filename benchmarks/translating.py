"""How fast this project translates beside its peers: one command, one table.

    python benchmarks/translating.py --peers DIR

DIR holds the environments that benchmarks/setup_peers.sh makes. A small model first learns a few
hundred pairs by heart. Then every participant translates their English sides with the weights of
that model, in a process of its own, one after the other, with the same batches and threads.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final, NamedTuple

from comparing import Participant, check, corpus_entries, make_parser, save, taking_part
from processes import HERE, Processes, ProcessFailed
from reporting import cell, markdown, median, say

TITLES: Final = {
    "ours": "**translator (this project)**",
    "ctranslate2": "CTranslate2",
    "hf": "Hugging Face MarianMTModel",
    "plain_torch": "torch.nn.Transformer, greedy loop",
    "joeynmt": "JoeyNMT",
}
OURS: Final = Participant("ours", "fp32")
CTRANSLATE2: Final = Participant("ctranslate2", "float32")
"""The ratios in the table are to this one."""
PARTICIPANTS: Final = (
    OURS,
    Participant("ours", "bf16"),
    Participant("ours", "int8"),
    CTRANSLATE2,
    Participant("ctranslate2", "int8"),
    Participant("hf", "fp32", "hf"),
    Participant("plain_torch", "fp32", "hf"),
    Participant("joeynmt", "fp32", "joeynmt"),
)

Result = dict[str, Any]
Round = dict[Participant, Result]
"""What was measured of everyone that did not fail."""


class Row(NamedTuple):
    """One line of the table, medians over the rounds."""

    name: str
    dtype: str
    sentences_per_second: float
    batched_over_ctranslate2: float | None
    single_ms: float
    single_over_ctranslate2: float | None
    same_as_ours: float | None
    start_up_s: float | None
    peak_rss_mb: float


class Bench:
    """Starts the processes; their files lie in one folder."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self._processes = Processes(args.threads, args.peers)
        self._threads = str(args.threads)
        self._only = args.only
        self._folder = folder
        self._model = folder / "model"
        self.failed: dict[Participant, str] = {}

    def prepare(self, entries: Sequence[str]) -> Result:
        """Vocabulary, training and exports, unless they are there.  -> what was learned"""
        summary = self._model / "summary.json"
        if not summary.exists():
            data = self._folder / "data"
            say("corpus and vocabulary")
            self._processes.run("preparation", "--out", str(data), *entries)
            say("learning a few hundred pairs by heart, some minutes")
            self._processes.run("memorising", "--data", str(data), "--out", str(self._model))
        found: Result = json.loads(summary.read_text(encoding="utf-8"))
        say(f"{found['reproduced']:.1%} of the pairs are known by heart")
        return found

    def round(self, number: int) -> Round:
        """Every participant once, without those that have failed."""
        results = {}
        for who in taking_part(PARTICIPANTS, self._only, number):
            if who in self.failed:
                continue
            try:
                results[who] = self._measure(who, number)
            except ProcessFailed as failure:
                self.failed[who] = str(failure)
                say(f"{who.module} {who.dtype} is left out: {failure}")
        return {
            who: results[who] for who in taking_part(PARTICIPANTS, self._only) if who in results
        }

    def growth(self) -> Result:
        """Times of our search at forced output lengths, and their exponent."""
        arguments = ("--model", str(self._model), "--threads", self._threads)
        return self._processes.run("translators.growth", *arguments)

    def _measure(self, who: Participant, number: int) -> Result:
        module = f"translators.{who.module}"
        places = ("--model", str(self._model), "--threads", self._threads, "--dtype", who.dtype)
        result = self._processes.run(module, *places, environment=who.environment)
        first: tuple[str, ...] = ("-m", module, *places, "--first")
        if who.module == "ours":
            first = own_command(self._model, self._threads, who.dtype)
        start = self._processes.seconds_to_first_line(*first, environment=who.environment)
        result["start_up_s"] = start
        say(
            f"round {number + 1}: {who.module} {who.dtype}: "
            f"{result['sentences_per_second']:,.1f} sentences/s, {result['single_ms']:.1f} ms alone"
        )
        return result


def own_command(model: Path, threads: str, dtype: str) -> tuple[str, ...]:
    """What the project's own command needs to translate the first sentence: script, arguments.

    Args:
        model: folder of memorising.py
    """
    content = json.loads((model / "material.json").read_text(encoding="utf-8"))
    script = str(HERE.parent / "scripts" / "translate.py")
    places = ("--model", str(model / "reference"), "--threads", threads)
    return (script, *places, "--set", f"decoding.precision={dtype}", content["first_text"])


def summarise(rounds: Sequence[Round]) -> list[Row]:
    """The table's rows, of those that failed in no round. Ratios are taken within a round, then
    their median.
    """
    everywhere = [who for who in rounds[0] if all(who in found for found in rounds)]
    return [
        Row(
            name=TITLES[who.module],
            dtype=who.dtype,
            sentences_per_second=_over_rounds(rounds, who, "sentences_per_second"),
            batched_over_ctranslate2=_ratio(rounds, who, lambda it: it["sentences_per_second"]),
            single_ms=_over_rounds(rounds, who, "single_ms"),
            single_over_ctranslate2=_ratio(rounds, who, lambda it: 1 / it["single_ms"]),
            same_as_ours=median([_same(found, who) for found in rounds]),
            start_up_s=_over_rounds(rounds, who, "start_up_s"),
            peak_rss_mb=_over_rounds(rounds, who, "peak_rss_mb"),
        )
        for who in everywhere
    ]


def _over_rounds(rounds: Sequence[Round], who: Participant, figure: str) -> float:
    return statistics.median(found[who][figure] for found in rounds)


def _ratio(
    rounds: Sequence[Round], who: Participant, speed: Callable[[Result], float]
) -> float | None:
    """Its speed over that of CTranslate2 in float32; None when that did not run."""
    return median(
        [
            speed(found[who]) / speed(found[CTRANSLATE2]) if CTRANSLATE2 in found else None
            for found in rounds
        ]
    )


def _same(found: Round, who: Participant) -> float | None:
    """Share of sentences that it writes as our fp32 does; None when that did not run."""
    if OURS not in found:
        return None
    pairs = zip(found[who]["outputs"], found[OURS]["outputs"], strict=True)
    return statistics.fmean(theirs == ours for theirs, ours in pairs)


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown."""
    head = (
        "participant",
        "dtype",
        "sentences/s, batches of 32",
        "× CTranslate2 float32",
        "ms a sentence, alone",
        "× CTranslate2 float32",
        "same tokens as ours fp32",
        "start-up, s",
        "peak memory, MB",
    )
    lines = [
        (
            row.name,
            row.dtype,
            f"{row.sentences_per_second:,.1f}",
            cell(row.batched_over_ctranslate2, ".2f"),
            f"{row.single_ms:,.1f}",
            cell(row.single_over_ctranslate2, ".2f"),
            cell(row.same_as_ours, ".1%"),
            cell(row.start_up_s, ".1f"),
            f"{row.peak_rss_mb:,.0f}",
        )
        for row in rows
    ]
    return markdown([head, *lines], n_text=2)


def _conditions(args: argparse.Namespace, size: Result) -> str:
    """One line that says under what conditions the table came about."""
    return (
        f"{size['sentences']:,} sentences, {size['reproduced']:.1%} of them known by heart, "
        f"{size['mean_tokens']:.1f} tokens written on average, {size['vocabulary']:,} pieces, "
        f"{args.threads} thread{'s' * (args.threads > 1)}, median of {args.rounds} rounds"
    )


def _growth_text(found: Result) -> str:
    """The forced lengths in a table, and the exponent."""
    lines = [
        ("tokens written", "seconds"),
        *((str(n), f"{seconds:.3f}") for n, seconds in found["seconds"].items()),
    ]
    return f"{markdown(lines, n_text=0)}\n\ntime grows as length^{found['exponent']:.2f}"


def _arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, TITLES, threads=1)
    parser.add_argument("--growth", action="store_true", help="also fit time to output length")
    parser.add_argument("--work", type=Path, help="keep the trained model here, and use it again")
    args = parser.parse_args()
    check(parser, args, PARTICIPANTS)
    return args


def main() -> None:
    """Measures, prints the table on stdout and progress on stderr. The status is 1 when somebody
    failed.
    """
    args = _arguments()
    with _folder(args.work) as folder:
        bench = Bench(args, Path(folder).resolve())
        try:
            size = bench.prepare(corpus_entries(args))
        except ProcessFailed as failure:
            raise SystemExit(str(failure)) from None
        rounds = [bench.round(number) for number in range(args.rounds)]
        growth, growth_failed = _grown(bench) if args.growth else (None, "")
    rows = summarise(rounds)
    print(table(rows))
    print(f"\n{_conditions(args, size)}")
    for who, reason in bench.failed.items():
        print(f"\n{TITLES[who.module]}, {who.dtype}, failed: {_reason(reason)}")
    if growth is not None:
        print(f"\n{_growth_text(growth)}")
    if growth_failed:
        print(f"\nGrowth failed: {_reason(growth_failed)}")
    if args.out is not None:
        save(args.out, _everything(args, size, rounds, rows, growth))
    if bench.failed or growth_failed:
        raise SystemExit(1)


def _folder(kept: Path | None) -> AbstractContextManager[str | Path]:
    """Where the files of the processes lie: for good, or until the end."""
    if kept is not None:
        return nullcontext(kept)
    return tempfile.TemporaryDirectory(prefix="benchmark-")


def _grown(bench: Bench) -> tuple[Result | None, str]:
    """-> the times and their exponent, or why there are none: the table is not lost by it"""
    try:
        return bench.growth(), ""
    except ProcessFailed as failure:
        say(f"growth is left out: {failure}")
        return None, str(failure)


def _reason(failure: str) -> str:
    """The last line of what a process wrote."""
    return failure.strip().splitlines()[-1]


def _everything(
    args: argparse.Namespace,
    size: Result,
    rounds: Sequence[Round],
    rows: Sequence[Row],
    growth: Result | None,
) -> dict[str, Any]:
    """Every figure of every round, and the table; not what was written."""
    measured = [
        [
            {"name": who.module, "dtype": who.dtype, "same_as_ours": _same(found, who)}
            | {figure: value for figure, value in result.items() if figure != "outputs"}
            for who, result in found.items()
        ]
        for found in rounds
    ]
    return {
        "settings": {"rounds": args.rounds, "threads": args.threads},
        "model": size,
        "rounds": measured,
        "table": [row._asdict() for row in rows],
        "growth": growth,
    }


if __name__ == "__main__":
    main()
