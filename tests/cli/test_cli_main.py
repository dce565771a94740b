"""What every command has in common: the version, and how it ends."""

import pytest

import translator
from translator.cli import main


def test_the_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"translator {translator.__version__}\n"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:119] . DefaultCPUAllocator: can't allocate memory"
        ),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    ],
    ids=["Python", "CPU", "GPU"],
)
def test_too_little_memory_is_one_line(error, monkeypatch, capsys):
    def broken(_):
        raise error

    monkeypatch.setattr("translator.cli.translate.run", broken)
    assert main(["translate", "Hi."]) == 2
    said = capsys.readouterr().err
    assert said.startswith("translator: out of memory; lower ") and said.count("\n") == 1


def test_an_error_of_ours_is_not_hidden(monkeypatch):
    def broken(_):
        raise RuntimeError("a bug")

    monkeypatch.setattr("translator.cli.translate.run", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["translate", "Hi."])


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (["trace", "I", "am"], "unrecognized arguments: am; put quotes around a sentence"),
        (["translate", "Hi.", "--style", "any", "Bye."], "Bye.; put all sentences side by side"),
        (["corpus", "split", "a", "--size", "1", "--test", "b", "--train", "c", "-x"], "-x\n"),
        (["attention", "Hi.", "--haed", "1"], "unrecognized arguments: --haed 1\n"),
        (
            ["evaluate", "--data", "a.tsv", "--json", "out.json"],
            "unrecognized arguments: out.json\n",
        ),
    ],
)
def test_what_no_option_takes_is_told_with_the_usage_of_the_command(command, hint, capsys):
    with pytest.raises(SystemExit) as end:
        main(command)
    assert end.value.code == 2
    said = capsys.readouterr().err
    name = " ".join(command[: 1 + (command[0] == "corpus")])
    assert said.startswith(f"usage: translator {name} [-h]")
    assert hint in said


def test_a_message_cannot_command_the_terminal(capsys):
    assert main(["translate", "--file", "no\x1b]0;such\x07\nfile", "--output", "o"]) == 2
    err = capsys.readouterr().err
    assert "no?]0;such??file" in err and err.count("\n") == 1 and "\x1b" not in err
