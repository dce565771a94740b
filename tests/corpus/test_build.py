"""Making levels from files that are not as they should be; nothing here needs kiwipiepy."""

import pytest

from translator.cli import main
from translator.corpus.build import written_levels
from translator.errors import UserError


def write(data, text):
    (data / "handwritten").mkdir()
    (data / "handwritten" / "a.tsv").write_text(text, encoding="utf-8")


def test_what_is_written_of_each_sentence(tmp_path):
    write(tmp_path, "Hi.\t안녕하십니까.\tformal\nHi.\t안녕.\tcasual\nRun!\t뛰십시오!\tformal\n")
    assert written_levels(tmp_path) == {
        "Hi.": {"formal": "안녕하십니까.", "casual": "안녕."},
        "Run!": {"formal": "뛰십시오!"},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Run!\t뛰십시오!\tformal\nHi.\t안녕하세요.\tpolite\n", r"a\.tsv:2: no formal line: Hi\."),
        ("Hi.\t안녕하십니까.\tformal\nHi.\t안녕.\n", r"a\.tsv:2: expected English, Korean and a"),
    ],
)
def test_what_cannot_be_converted_is_named(tmp_path, capsys, text, message):
    write(tmp_path, text)
    with pytest.raises(UserError, match=message):
        written_levels(tmp_path)
    assert main(["corpus", "--data", str(tmp_path), "convert"]) == 2
    assert "translator corpus check" in capsys.readouterr().err
