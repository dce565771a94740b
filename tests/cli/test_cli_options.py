"""What the options that several commands share mean, and that asking for help costs nothing."""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields

import pytest

from translator.checkpoint import PRETRAINED
from translator.cli import main
from translator.cli.arguments import make_parser
from translator.cli.model import model_path
from translator.cli.options import search_options
from translator.config import Config, DecodingConfig
from translator.corpus.public import SOURCES
from translator.errors import UserError
from translator.export import QUANTIZATIONS
from translator.levels import DEFAULT_STYLE
from translator.looking import KINDS
from translator.server.limits import Limits

COMMANDS = (
    *("train", "translate", "evaluate", "attention", "trace", "serve", "export", "corpus"),
    "fetch",
)


def option(command: str, name: str) -> argparse.Action:
    actions = make_parser()._actions
    [commands] = [a for a in actions if isinstance(a, argparse._SubParsersAction)]
    return next(a for a in commands.choices[command]._actions if name in a.option_strings)


def test_choices_are_those_of_the_modules_that_do_the_work():
    assert set(option("attention", "--kind").choices) == set(KINDS)
    assert set(option("export", "--quantization").choices) == set(QUANTIZATIONS)
    assert all(source.name in option("fetch", "--only").help for source in SOURCES)


def test_defaults_are_those_of_the_modules_that_do_the_work():
    limits = Limits()
    for name, value in (("--char-limit", limits.characters), ("--max-waiting", limits.waiting)):
        assert option("serve", name).default == value
        assert f"(default: {value})" in option("serve", name).help
    for command in ("translate", "attention", "trace", "serve", "export"):
        assert option(command, "--style").default == DEFAULT_STYLE
    assert option("evaluate", "--style").default is None  # that of each reference
    for command in ("translate", "evaluate", "attention", "trace", "serve"):
        assert option(command, "--device").default == "cpu"


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser, those of its commands, and those of their actions."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from parsers(inner)


def test_every_option_says_what_it_does():
    found = list(parsers(make_parser()))
    assert {"translator", "translator serve", "translator corpus draw"} <= {p.prog for p in found}
    for parser in found:
        for action in parser._actions:
            told = isinstance(action, argparse._SubParsersAction) or action.help
            assert told, f"{parser.prog}: {action.dest}"


def test_the_help_of_the_search_names_every_setting():
    for command in ("translate", "evaluate", "serve"):
        told = option(command, "--set").help
        assert all(item.name in told for item in fields(DecodingConfig))
        assert f"{DecodingConfig().beam_size} if it has none" in option(command, "--beam-size").help
    assert "a list is written as in YAML" in option("train", "--set").help


def test_the_corpus_is_named_before_the_action_or_behind_it():
    read = make_parser().parse_args
    for action in (["check"], ["report"], ["draw", "--out", "x"], ["convert"], ["conjugate"]):
        assert read(["corpus", *action]).data is None  # data/
        assert read(["corpus", "--data", "mine", *action]).data == "mine"
        assert read(["corpus", *action, "--data", "mine"]).data == "mine"


def test_what_reads_files_of_its_own_takes_no_corpus(capsys):
    assert main(["corpus", "--data", "mine", "read", "a.tsv"]) == 2
    assert "--data mine: read reads the files it is given; omit it" in capsys.readouterr().err


def test_help_of_every_command_waits_for_nothing():
    code = (
        "import sys\n"
        "from translator.cli import main\n"
        f"for command in {COMMANDS!r}:\n"
        "    try: main([command, '--help'])\n"
        "    except SystemExit as end: assert end.code == 0\n"
        "assert not {'torch', 'sentencepiece', 'fastapi'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    for command in COMMANDS:
        assert f"usage: translator {command} " in done.stdout


def test_without_model_it_is_the_one_inside_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pretrained").mkdir()  # of the user's own, and not asked for
    assert model_path(None) == PRETRAINED
    assert model_path("") == ""


def searched(
    config: Config, *settings: str, beam_size: int | None = None, n_best: int | None = None
):
    args = argparse.Namespace(set=list(settings), beam_size=beam_size)
    options = search_options(config, args, n_best)
    return options.beam_size, options.n_best


GREEDY = Config()
FOUR = Config().override(["decoding.beam_size=4", "decoding.n_best=4"])


def test_the_beam_holds_what_is_asked_for():
    assert searched(GREEDY) == (1, 1)
    assert searched(GREEDY, n_best=3) == (3, 3)
    assert searched(GREEDY, n_best=3, beam_size=5) == (5, 3)
    assert searched(FOUR) == (4, 4)
    assert searched(FOUR, n_best=1) == (4, 1)
    with pytest.raises(UserError, match="n_best: 3 translations need a beam_size of as many"):
        searched(GREEDY, n_best=3, beam_size=2)


def test_a_smaller_beam_gives_fewer_translations_than_the_model_is_set_to():
    assert searched(FOUR, beam_size=1) == (1, 1)
    assert searched(FOUR, beam_size=2) == (2, 2)


def test_beam_size_counts_before_settings():
    assert searched(GREEDY, "decoding.n_best=3", beam_size=3) == (3, 3)
    assert searched(GREEDY, "decoding.beam_size=4") == (4, 1)
    with pytest.raises(UserError, match="n_best: 3 translations need a beam_size of as many"):
        searched(GREEDY, "decoding.n_best=3")


def test_a_number_of_translations_that_a_command_has_chosen_is_not_set():
    with pytest.raises(UserError, match=r"--set decoding\.n_best=3: how many translations is not"):
        searched(GREEDY, "decoding.beam_size=4", "decoding.n_best=3", n_best=1)


def test_a_beam_size_that_is_given_in_two_ways_is_refused():
    for setting in ("decoding.beam_size=2", "decoding.beam_size=4", " decoding.beam_size = 2"):
        with pytest.raises(UserError, match=r"beam-size 4 and --set .+ leave one of them out"):
            searched(GREEDY, setting, beam_size=4)


def test_settings_that_are_none_of_the_search_are_refused(capsys):
    for setting in ("train.lr=1", "model.d_model=8", "beam_size=2"):
        with pytest.raises(UserError, match="has an effect here"):
            searched(GREEDY, setting)
    assert capsys.readouterr().err == ""
    searched(GREEDY, "decoding.length_penalty=2")
    assert "length_penalty has no effect in greedy search" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["0", "-1", "two", "1025", "9" * 20])
def test_threads_that_cannot_be(number, capsys):
    for command in (["translate", "Hi."], ["serve"]):
        with pytest.raises(SystemExit):
            make_parser().parse_args([*command, f"--threads={number}"])
        assert "expected a number from 1 to 1024" in capsys.readouterr().err


def test_the_largest_number(capsys):
    command = ["evaluate", "--data", "x", "--bootstrap"]
    assert make_parser().parse_args([*command, "0001000000000"]).bootstrap == 10**9
    with pytest.raises(SystemExit):
        make_parser().parse_args([*command, "1000000001"])
    assert "expected a number from 0 to 1000000000, got '1000000001'" in capsys.readouterr().err


def test_a_beam_that_is_set_is_wide_enough_for_the_translations():
    with pytest.raises(UserError, match="3 translations need a beam_size of as many, not 2"):
        searched(GREEDY, "decoding.beam_size=2", n_best=3)
    assert searched(GREEDY, "decoding.beam_size=5", n_best=3) == (5, 3)
