"""Options that several commands share, and what they mean for the search."""

import argparse
import sys
from dataclasses import replace

from translator.config import Config, DecodingConfig
from translator.errors import UserError
from translator.levels import DEFAULT_STYLE, LEVELS

MOST_THREADS = 1024
"""More than any computer has cores; a larger number is a slip, and PyTorch would try it."""


def positive(text: str) -> int:
    """The type of an option that counts something."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 up, got {text!r}")
    return int(text)


def natural(text: str) -> int:
    """As `positive`, with 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number from 0 up, got {text!r}")
    return int(text)


def thread_count(text: str) -> int:
    """The type of --threads."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_THREADS:
        raise argparse.ArgumentTypeError(
            f"expected a number from 1 to {MOST_THREADS}, got {text!r}"
        )
    return int(text)


def add_model(
    parser: argparse._ActionsContainer, accepted: str = "checkpoint or run directory"
) -> None:
    """--model; `accepted` says what the command can open."""
    parser.add_argument(
        "--model", metavar="PATH", help=f"{accepted} (default: the model inside the package)"
    )


def add_style(parser: argparse.ArgumentParser) -> None:
    """--style."""
    parser.add_argument(
        "--style",
        choices=LEVELS,
        default=DEFAULT_STYLE,
        help=f"speech level of the Korean (default: {DEFAULT_STYLE})",
    )


def add_beam_size(parser: argparse.ArgumentParser) -> None:
    """--beam-size."""
    parser.add_argument(
        "--beam-size",
        type=positive,
        metavar="K",
        help="hypotheses followed at a time; 1 is greedy",
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    """--beam-size and --set, which `search_options` reads."""
    add_beam_size(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="another setting of the search, for example decoding.length_penalty=1; repeatable",
    )


def search_options(
    config: Config, args: argparse.Namespace, n_best: int | None = None
) -> DecodingConfig:
    """The search that a model's config describes, with what the command line says otherwise. What
    was set and does nothing is named on stderr.

    Args:
        args: with the options of `add_search`
        n_best: translations of each sentence; None is as many as the config says, and no more than
            a --beam-size that was given

    Raises:
        UserError: a setting that is not one of the search, or that cannot be.
    """
    for assignment in args.set:
        if not assignment.strip().startswith("decoding."):
            raise UserError(f"--set {assignment}: only decoding.… has an effect here")
    options, beam_size = config.decoding, args.beam_size
    if beam_size is not None:  # before --set, which may count on it
        options = options.asked(beam_size, min(options.n_best, beam_size))
    if args.set:
        options = replace(config, decoding=options).override(args.set).decoding
    options = options.asked(beam_size, options.n_best if n_best is None else n_best)
    for note in options.without_effect():
        print(f"translator: {note}", file=sys.stderr)
    return options
