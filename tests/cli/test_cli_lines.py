"""How the command line reads lines of English."""

import codecs
import os

import pytest

from translator.cli.lines import count_lines, decoded, file_lines, grouped
from translator.errors import UserError


def test_only_the_first_line_can_begin_with_a_byte_order_mark():
    lines = [codecs.BOM_UTF8 + b"Hi.\r\n", codecs.BOM_UTF8 + b"You.\n", b"\xff"]
    assert list(decoded(lines, "x")) == ["Hi.", "\ufeffYou.", "\ufffd"]


def test_utf_16_is_named_with_its_file(tmp_path):
    path = tmp_path / "windows.txt"
    path.write_bytes("Hi\nThere\n".encode("utf-16"))
    with pytest.raises(UserError, match=r"windows\.txt: the text is UTF-16; save it as UTF-8"):
        list(file_lines(path))


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UserError, match=r"nowhere\.txt: cannot be read: No such file"):
        list(file_lines(tmp_path / "nowhere.txt"))
    with pytest.raises(UserError, match="cannot be read"):
        list(file_lines(tmp_path))


def test_lines_are_counted_where_that_takes_nothing_away(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"a\nb\nc")
    assert count_lines(path) == 3
    assert count_lines(tmp_path / "nowhere.txt") is None  # told by the one who reads it
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert count_lines(tmp_path / "pipe") is None


def test_groups():
    assert list(grouped("abcde", 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(grouped([], 2)) == []


def test_bytes_of_another_encoding_are_told_once(capsys):
    lines = [b"Hi.\n", "안녕\n".encode("cp949"), b"caf\xe9\n"]
    assert len(list(decoded(lines, "old.txt"))) == 3
    said = capsys.readouterr().err
    assert said.startswith("translator: old.txt: line 2: bytes that are not UTF-8 are replaced; ")
    assert said.count("\n") == 1
    assert len(list(decoded(["Hi, 안녕\n".encode()], "new.txt"))) == 1
    assert capsys.readouterr().err == ""
