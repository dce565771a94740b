"""`translator export`: a checkpoint as a directory that another engine opens."""

import argparse
import sys
from pathlib import Path

from translator.checkpoint import PRETRAINED, find_checkpoint, load_checkpoint
from translator.cli.lines import file_lines
from translator.cli.model import model_path
from translator.errors import UserError
from translator.export import export_model

SENTENCES = PRETRAINED.parent / "check.txt"


def run(args: argparse.Namespace) -> None:
    """Writes the directory and says how far its translations agree with the checkpoint's."""
    sentences = _sentences(SENTENCES if args.sentences is None else Path(args.sentences))
    checkpoint = load_checkpoint(find_checkpoint(model_path(args.model)))
    report = export_model(checkpoint, args.out, args.quantization, sentences, args.style)
    print(
        f"{args.out}: of {report.sentences} sentences CTranslate2 translates "
        f"{report.same_in_float32} as PyTorch does in float32",
        file=sys.stderr,
    )
    if args.quantization != "float32":
        print(
            f"in {args.quantization} {report.same} are the same; chrF {report.chrf:.1f} against "
            "the texts of PyTorch (100 is equal)",
            file=sys.stderr,
        )


def _sentences(path: Path) -> list[str]:
    found = [line for line in file_lines(path) if line.strip()]
    if not found:
        raise UserError(f"{path}: no sentence to compare with")
    return found
