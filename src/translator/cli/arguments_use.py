"""The options of the commands that use a model: translate, evaluate, attention, trace."""

import argparse

from translator.cli.options import (
    ANY,
    add_beam_size,
    add_device,
    add_encoding,
    add_model,
    add_search,
    add_style,
    add_threads,
    natural,
    positive,
)
from translator.levels import DEFAULT_STYLE, LEVELS


def add_translate(parser: argparse.ArgumentParser) -> None:
    """Of `translator translate`."""
    parser.add_argument(
        "text", nargs="*", help="English sentences; without any, lines of standard input"
    )
    parser.add_argument(
        "--file",
        metavar="FILE",
        help="translate the lines of a file, one out for one in; of a .srt file the subtitles",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="write to this file, complete or not at all"
    )
    parser.add_argument(
        "--format",
        choices=("text", "tsv", "jsonl"),
        default="text",
        help="text: the translation; tsv: source, translation, score; jsonl: all that is known",
    )
    add_model(parser, "checkpoint, run directory or export")
    add_device(parser)
    add_style(parser)
    parser.add_argument(
        "--n-best",
        type=positive,
        metavar="N",
        help="number of translations per line; further ones follow after tabs",
    )
    add_search(parser)
    parser.add_argument(
        "--no-cache", action="store_true", help="recompute everything at each step: slow, same text"
    )
    add_threads(parser, "one for each physical core, at most 4 for single sentences")
    parser.add_argument("-v", "--verbose", action="store_true", help="say on stderr what computes")


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    """Of `translator evaluate`."""
    parser.add_argument(
        "--data",
        required=True,
        nargs="+",
        metavar="FILE",
        help="pairs to judge by: English, tab, Korean, perhaps tab, level",
    )
    add_encoding(parser)
    models = parser.add_mutually_exclusive_group()
    add_model(models, "checkpoint, run directory or export")
    models.add_argument(
        "--compare", nargs=2, metavar=("A", "B"), help="two models, with a paired test of B over A"
    )
    add_device(parser)
    parser.add_argument(
        "--style",
        choices=LEVELS,
        help=f"speech level to ask for; {ANY} (default: that of each reference, {DEFAULT_STYLE} "
        "where it shows none)",
    )
    add_search(parser)
    parser.add_argument(
        "--morphemes",
        action="store_true",
        help="also BLEU over morphemes (needs the extra 'corpus')",
    )
    parser.add_argument(
        "--bootstrap",
        type=natural,
        default=1000,
        metavar="N",
        help="samples for the confidence intervals and the paired test; 0 or 1: no intervals "
        "(default: 1000)",
    )
    parser.add_argument(
        "--robustness",
        action="store_true",
        help="also the same sentences typed carelessly: capitals, no final mark, a letter wrong …",
    )
    parser.add_argument("--json", action="store_true", help="all figures as one JSON object")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="also write English, reference, level and the translation of each model to this file",
    )


def add_attention(parser: argparse.ArgumentParser) -> None:
    """Of `translator attention`."""
    parser.add_argument("text", help="one English sentence")
    parser.add_argument(
        "--kind",
        choices=["cross", "encoder", "decoder"],
        help="cross: the source pieces that each Korean piece looked at (default); encoder: "
        "its self-attention; decoder: masked self-attention",
    )
    parser.add_argument(
        "--layer", metavar="N", help='one layer, from 1, or "all" one by one (default: mean)'
    )
    parser.add_argument(
        "--head", metavar="N", help='one head, from 1, or "all" beside each other (default: mean)'
    )
    parser.add_argument("--words", action="store_true", help="whole words instead of pieces")
    result = parser.add_mutually_exclusive_group()
    result.add_argument(
        "--out", metavar="FILE", help="picture .svg or .png (needs the extra 'plot'), or .json"
    )
    parser.add_argument(
        "--font", metavar="FONT", help="for .png: name or file of a font that has Hangul"
    )
    result.add_argument(
        "--json", action="store_true", help="raw numbers of all layers and heads instead"
    )
    add_beam_size(parser)
    add_style(parser)
    add_model(parser)
    add_device(parser)


def add_trace(parser: argparse.ArgumentParser) -> None:
    """Of `translator trace`."""
    parser.add_argument("text", help="one English sentence")
    parser.add_argument("--json", action="store_true", help="the same as one JSON object")
    add_style(parser)
    add_model(parser)
    add_device(parser)
