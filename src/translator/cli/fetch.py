"""`translator fetch`: public English-Korean text to train on, from its publishers."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from translator.corpus.download import download
from translator.corpus.public import SOURCES, Parts, Source, parts_of, unseen_sentences
from translator.errors import UserError
from translator.files import write_lines
from translator.pairs import Pair
from translator.terminal import printable


def run(args: argparse.Namespace) -> None:
    """Writes NAME-train.tsv, and NAME-dev.tsv where there is a development part."""
    unseen = unseen_sentences(args.remove)
    archives = _archives(args.archive)
    _check_names(args.only, list(archives))
    out = Path(args.out)
    for source in SOURCES:
        if args.only and source.name not in args.only:
            continue
        archive = archives.get(source.name) or _fetched(source, out)
        parts = parts_of(source, archive, unseen)
        _write(out / f"{source.name}-train.tsv", parts.train)
        if parts.dev:
            _write(out / f"{source.name}-dev.tsv", parts.dev)
        _tell(source, parts)


def _archives(texts: Sequence[str]) -> dict[str, Path]:
    """NAME=FILE -> source name to archive."""
    archives: dict[str, Path] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals:
            raise UserError(f"--archive {text}: write it as NAME=FILE")
        if name in archives:
            raise UserError(f"--archive {text}: {name} is given twice")
        if not Path(path).is_file():
            raise UserError(f"--archive {text}: no such file")
        archives[name] = Path(path)
    return archives


def _check_names(only: Sequence[str], archives: Sequence[str]) -> None:
    known = [source.name for source in SOURCES]
    for name in [*only, *archives]:
        if name not in known:
            raise UserError(f"no source {name!r}; there are {', '.join(known)}")
    for name in archives:
        if only and name not in only:
            raise UserError(f"--archive {name}=…: --only leaves {name} out; name it there as well")


def _fetched(source: Source, out: Path) -> Path:
    archive = out / f"{source.name}.zip"
    if not archive.exists():
        print(f"translator: {source.url}", file=sys.stderr)
        download(source.url, archive)
    return archive


def _write(path: Path, pairs: Sequence[Pair]) -> None:
    write_lines(path, (f"{pair.src}\t{pair.tgt}" for pair in pairs))
    print(f"{path}: {len(pairs)} pairs", file=sys.stderr)


def _tell(source: Source, parts: Parts) -> None:
    print(f"{source.name}: {source.credit}; {source.licence}", file=sys.stderr)
    for line in parts.report.lines():
        print(f"{source.name}: {printable(line)}", file=sys.stderr)
    if parts.removed:
        pairs = "pair" if parts.removed == 1 else "pairs"
        print(f"{source.name}: {parts.removed} {pairs} left out to stay unseen", file=sys.stderr)
    n = len(parts.train) + len(parts.dev) + parts.removed
    if n != source.pairs:
        print(
            f"{source.name}: {n} pairs; there were {source.pairs} when this project counted them, "
            "so a training will not be quite the same",
            file=sys.stderr,
        )
