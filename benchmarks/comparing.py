"""What training.py and translating.py share: who takes part, in which order, the command line, the
file of results. It imports no PyTorch; processes.py says why.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from processes import HERE, interpreter

CORPUS: Final = HERE.parent / "data" / "handwritten" / "*.tsv"


class Participant(NamedTuple):
    """A library in one number format."""

    module: str  # in benchmarks/participants or benchmarks/translators
    dtype: str
    environment: str = ""  # of the peers; empty is the project's own


def taking_part(
    everyone: Sequence[Participant], only: Sequence[str] | None, turn: int = 0
) -> list[Participant]:
    """Those whose module was asked for, or everyone; backwards in every second round, so that what
    drifts does not always favour the same one.

    Args:
        only: names of modules; None is all of them
        turn: number of the round, from 0
    """
    chosen = [who for who in everyone if not only or who.module in only]
    return chosen if turn % 2 == 0 else chosen[::-1]


def make_parser(
    description: str | None, titles: Mapping[str, str], threads: int
) -> argparse.ArgumentParser:
    """The options that both commands have.

    Args:
        titles: the modules that can take part, with their names in the table
        threads: how many each process has by default
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, help="folder of setup_peers.sh")
    parser.add_argument("--data", nargs="+", default=[str(CORPUS)], help="TSV files of pairs")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=threads)
    parser.add_argument("--only", nargs="+", choices=titles, help="leave the others out")
    parser.add_argument("--out", type=Path, help="also write everything measured to this JSON file")
    return parser


def check(
    parser: argparse.ArgumentParser, args: argparse.Namespace, everyone: Sequence[Participant]
) -> None:
    """Ends the command with a message when what was asked for cannot work."""
    for name in ("rounds", "threads"):
        if getattr(args, name) < 1:
            parser.error(f"--{name}: expected at least 1, got {getattr(args, name)}")
    if args.out is not None and not args.out.absolute().parent.is_dir():
        parser.error(f"--out: {args.out.parent} is no directory; make it first")
    for who in taking_part(everyone, args.only):
        if who.environment and args.peers is None:
            parser.error(
                f"--peers: {who.module} needs it; give the folder of benchmarks/setup_peers.sh, "
                "or leave the peers out with --only ours"
            )
        python = interpreter(args.peers, who.environment)
        if not python.exists():
            parser.error(f"{python}: no such file; make it with benchmarks/setup_peers.sh")


def corpus_entries(args: argparse.Namespace) -> list[str]:
    """The files of pairs as processes find them, which work in another directory."""
    return [str(Path(entry).absolute()) for entry in args.data]


def save(path: Path, content: Mapping[str, Any]) -> None:
    """Everything that was measured, as JSON."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    path.write_text(f"{text}\n", encoding="utf-8")
