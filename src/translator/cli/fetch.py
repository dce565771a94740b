"""`translator fetch`: the public text that the shipped model also learned from."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from translator.corpus.download import download
from translator.corpus.public import SOURCES, Source, parts_of, unseen_sentences
from translator.errors import UserError
from translator.pairs import Pair


def run(args: argparse.Namespace) -> None:
    """Writes NAME-train.tsv, and NAME-dev.tsv where there is a development part."""
    known = {source.name: source for source in SOURCES}
    unseen = unseen_sentences(args.remove)
    archives = dict(map(_archive, args.archive))
    for name in [*args.only, *archives]:
        if name not in known:
            raise UserError(f"no source {name!r}; there are {', '.join(known)}")
    out = Path(args.out)
    for source in SOURCES:
        if args.only and source.name not in args.only:
            continue
        archive = archives.get(source.name) or _fetched(source, out)
        parts = parts_of(source, archive, unseen)
        _write(out / f"{source.name}-train.tsv", parts.train)
        if parts.dev:
            _write(out / f"{source.name}-dev.tsv", parts.dev)
        _tell(source, len(parts.train) + len(parts.dev), parts.removed)


def _archive(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals:
        raise UserError(f"--archive {text}: write it as NAME=FILE")
    if not Path(path).is_file():
        raise UserError(f"--archive {text}: no such file")
    return name, Path(path)


def _fetched(source: Source, out: Path) -> Path:
    archive = out / f"{source.name}.zip"
    if not archive.exists():
        print(f"translator: {source.url}", file=sys.stderr)
        download(source.url, archive)
    return archive


def _write(path: Path, pairs: Sequence[Pair]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{pair.src}\t{pair.tgt}\n" for pair in pairs), encoding="utf-8")
    print(f"{path}: {len(pairs)} pairs", file=sys.stderr)


def _tell(source: Source, n: int, removed: int) -> None:
    print(f"{source.name}: {source.credit}; {source.licence}", file=sys.stderr)
    if removed:
        print(f"{source.name}: {removed} pairs removed that are to stay unseen", file=sys.stderr)
    if n + removed != source.pairs:
        print(
            f"{source.name}: {n + removed} pairs; there were {source.pairs} when the shipped model "
            "was trained, so a training will not be quite the same",
            file=sys.stderr,
        )
