"""Options that several commands share, and what they mean for the search."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import fields, replace

from translator.config import Config, DecodingConfig
from translator.errors import UserError
from translator.levels import DEFAULT_STYLE, LEVELS
from translator.textfile import check_encoding

ANY = "any: the level of pairs that show none, such as single words"
"""What the help says of the last of LEVELS."""
MOST_THREADS = 1024
"""More than any computer has cores; a larger number is a slip, and PyTorch would try it."""


def whole_number(low: int, high: int = 10**9) -> Callable[[str], int]:
    """The type of an option that counts something."""

    def convert(text: str) -> int:
        digits = text.lstrip("0") or "0"  # Python refuses to read thousands
        number = int(digits) if text.isdecimal() and len(digits) <= len(str(high)) else -1
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(
                f"expected a number from {low} to {high}, got {text!r}"
            )
        return number

    return convert


positive = whole_number(1)
natural = whole_number(0)


def add_threads(parser: argparse.ArgumentParser, default: str) -> None:
    """--threads."""
    parser.add_argument(
        "--threads",
        type=whole_number(1, MOST_THREADS),
        metavar="N",
        help=f"processor cores to use (default: {default})",
    )


def add_encoding(parser: argparse.ArgumentParser) -> None:
    """--encoding, of the text files that are read."""
    parser.add_argument(
        "--encoding",
        type=_encoding_name,
        default="utf-8",
        metavar="NAME",
        help="how these files are saved, for example cp949 (default: utf-8)",
    )


def _encoding_name(text: str) -> str:
    """The type of --encoding."""
    try:
        check_encoding(text)
    except LookupError:
        raise argparse.ArgumentTypeError(
            f"unknown or unsuitable encoding {text!r}; try utf-8 or cp949"
        ) from None
    return text


def add_model(
    parser: argparse._ActionsContainer, accepted: str = "checkpoint or run directory"
) -> None:
    """--model; `accepted` says what the command can open."""
    parser.add_argument(
        "--model", metavar="PATH", help=f"{accepted} (default: the model inside the package)"
    )


def add_device(parser: argparse.ArgumentParser) -> None:
    """--device."""
    parser.add_argument(
        "--device",
        default="cpu",
        metavar="NAME",
        help="where to compute: cpu, cuda, cuda:1, mps or auto (default: cpu)",
    )


def add_style(parser: argparse.ArgumentParser, meaning: str = "speech level of the Korean") -> None:
    """--style; `meaning` says what the command does with it."""
    parser.add_argument(
        "--style",
        choices=LEVELS,
        default=DEFAULT_STYLE,
        help=f"{meaning}; {ANY} (default: {DEFAULT_STYLE})",
    )


def add_beam_size(parser: argparse.ArgumentParser) -> None:
    """--beam-size."""
    parser.add_argument(
        "--beam-size",
        type=positive,
        metavar="K",
        help="hypotheses followed at a time; 1 is greedy (default: the model's own setting, "
        f"{DecodingConfig.beam_size} if it has none)",
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    """--beam-size and --set, which `search_options` reads."""
    add_beam_size(parser)
    names = ", ".join(item.name for item in fields(DecodingConfig))
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="another setting of the search, for example decoding.length_penalty=1; may be "
        f"repeated for other keys; there are {names}",
    )


def setting_name(assignment: str) -> str:
    """The key of "key=value"."""
    return assignment.partition("=")[0].strip()


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
        UserError: a setting that is not one of the search, that cannot be, or that --beam-size or
            `n_best` has given already.
    """
    for assignment in args.set:
        if not assignment.strip().startswith("decoding."):
            raise UserError(f"--set {assignment}: only decoding.… has an effect here")
        if args.beam_size is not None and setting_name(assignment) == "decoding.beam_size":
            raise UserError(
                f"--beam-size {args.beam_size} and --set {assignment} are one setting; "
                "leave one of them out"
            )
        if n_best is not None and setting_name(assignment) == "decoding.n_best":
            raise UserError(
                f"--set {assignment}: how many translations is not this setting's to say here; "
                "leave it out"
            )
    options, beam_size = config.decoding, args.beam_size
    if beam_size is not None:  # before --set, which may count on it
        options = options.asked(beam_size, min(options.n_best, beam_size))
    if n_best is not None:
        options = replace(options, n_best=1)
    if args.set:
        options = replace(config, decoding=options).override(args.set).decoding
        if any(setting_name(assignment) == "decoding.beam_size" for assignment in args.set):
            beam_size = options.beam_size
    options = options.asked(beam_size, options.n_best if n_best is None else n_best)
    for note in options.without_effect():
        print(f"translator: {note}", file=sys.stderr)
    return options
