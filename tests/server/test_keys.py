import os

import pytest

from translator.errors import UserError
from translator.server.keys import Keys

NAME = "TRANSLATOR_API_KEY"


def test_without_the_variable_no_key_is_needed(monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    keys = Keys.from_environment(NAME)
    assert not keys.required and keys.accept(None)


def test_the_key_of_the_variable_stands_without_spaces(monkeypatch):
    monkeypatch.setenv(NAME, " a secret\n")
    keys = Keys.from_environment(NAME)
    assert keys.required and keys.accept("a secret")
    assert not keys.accept(None) and not keys.accept("") and not keys.accept(" a secret\n")


@pytest.mark.parametrize("value", ["", " \n"])
def test_an_empty_variable_opens_nothing(monkeypatch, value):
    monkeypatch.setenv(NAME, value)
    with pytest.raises(UserError, match=f"{NAME}: empty; write a key"):
        Keys.from_environment(NAME)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere variables are text")
def test_bytes_that_are_no_text(monkeypatch):
    monkeypatch.setenv(NAME, os.fsdecode(b"\xff"))
    with pytest.raises(UserError, match=f"{NAME}: not UTF-8"):
        Keys.from_environment(NAME)


def test_a_file_that_cannot_be_used(tmp_path):
    missing, wide = tmp_path / "none.txt", tmp_path / "wide.txt"
    with pytest.raises(UserError) as error:
        Keys.from_file(missing)
    assert str(error.value) == f"{missing}: cannot be read: No such file or directory"
    wide.write_text("secret", encoding="utf-16")
    with pytest.raises(UserError) as error:
        Keys.from_file(wide)
    assert str(error.value) == f"{wide}: not UTF-8; save it as UTF-8"
