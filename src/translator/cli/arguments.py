"""The parser of the command line, without what the commands import."""

import argparse
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import translator
from translator.cli import arguments_make, arguments_serve, arguments_use


class _Command(NamedTuple):
    name: str  # and that of the module that runs it
    help: str
    add: Callable[[argparse.ArgumentParser], None]  # its options


_COMMANDS: Final = (
    _Command("train", "train a model from a config file", arguments_make.add_train),
    _Command("translate", "translate English into Korean", arguments_use.add_translate),
    _Command("evaluate", "say how good a model is on a file of pairs", arguments_use.add_evaluate),
    _Command("attention", "show where a translation looked", arguments_use.add_attention),
    _Command("trace", "show one translation step by step", arguments_use.add_trace),
    _Command("serve", "a web page and an HTTP API on this computer", arguments_serve.add_serve),
    _Command("export", "write a model for another engine", arguments_make.add_export),
    _Command("corpus", "check, report and build the corpus in data/", arguments_make.add_corpus),
    _Command("fetch", "get public English-Korean text to train on", arguments_make.add_fetch),
)


def make_parser() -> argparse.ArgumentParser:
    """Reads a command line; `args.command` names the module that runs it."""
    parser = argparse.ArgumentParser(
        prog="translator", description="Train and use a small English-Korean Transformer."
    )
    parser.add_argument(
        "--version", action="version", version=f"translator {translator.__version__}"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        own = commands.add_parser(command.name, help=command.help)
        own.set_defaults(parser=own)
        command.add(own)
    return parser


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line. What no option takes is told with the usage of the command itself."""
    args, rest = make_parser().parse_known_args(argv)
    if rest:
        words = "text" in args and not any(word.startswith("-") for word in rest)
        several = isinstance(getattr(args, "text", None), list)
        advice = "put all sentences side by side" if several else "put quotes around a sentence"
        hint = f"; {advice}" if words else ""
        args.parser.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
    return args
