"""Public archives, made up here in the form of the real ones, and `translator fetch`."""

import hashlib
import io
import zipfile

import pytest

from translator.cli import main
from translator.corpus import public
from translator.corpus.public import SOURCES, PublicDataError, keys_of, parts_of, unseen_sentences
from translator.pairs import near_duplicate_key

TATOEBA, TURNS = SOURCES
ROWS = [
    ("Go.", "가."),
    ("Hi.", "안녕."),
    ("Hi.", "안녕하세요."),
    ("Run!", "뛰어!"),
    ("Run!", "뛰어!"),
    ("No Korean.", "none"),
]


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(name.replace("__", "/").replace("_", "."), text)
    return path


@pytest.fixture
def tatoeba(tmp_path):
    text = "".join(f"{en}\t{ko}\tCC-BY 2.0 (France) Attribution: x\r\n" for en, ko in ROWS)
    return archive(tmp_path / "kor-eng.zip", kor_txt=text, _about_txt="x")


@pytest.fixture
def dev_is_hi(monkeypatch):
    key = hashlib.sha256(near_duplicate_key("Hi.").encode()).hexdigest()[:16]
    monkeypatch.setattr(public, "_dev_keys", lambda: frozenset([key]))


@pytest.mark.usefixtures("dev_is_hi")
def test_train_and_dev_are_apart_and_each_pair_comes_once(tatoeba):
    train, dev, removed = parts_of(TATOEBA, tatoeba)
    assert [pair[:2] for pair in train] == [("Go.", "가."), ("Run!", "뛰어!")]
    assert [pair[:2] for pair in dev] == [("Hi.", "안녕."), ("Hi.", "안녕하세요.")]
    assert removed == 0


@pytest.mark.usefixtures("dev_is_hi")
def test_a_test_set_is_removed_by_either_side(tatoeba, tmp_path):
    test = tmp_path / "test.txt"
    test.write_text("eng\tkor\trun\tnothing\neng\tkor\tGone\t안녕\n", encoding="utf-8")
    train, dev, removed = parts_of(TATOEBA, tatoeba, unseen_sentences([test]))
    assert [pair.src for pair in train] == ["Go."]
    assert [pair.tgt for pair in dev] == ["안녕하세요."]
    assert removed == 2
    assert keys_of(["Run!", "  "]) == {"run", ""}
    assert "" not in unseen_sentences([test])


def test_turns_are_put_side_by_side(tmp_path):
    table = io.StringIO(
        'id,korean,english\n1,"가: *밥* 먹었어?\n나: 응.","A: Have you eaten?\nB: Yes, I have."\n'
        '2,"하나.\n둘.","Only one turn here."\n'
    )
    path = archive(tmp_path / "x.zip", dir__a_csv=table.getvalue(), README_md="x y")
    train, dev, _ = parts_of(TURNS, path)
    assert [pair[:2] for pair in train] == [
        ("Have you eaten?", "밥 먹었어?"),
        ("Yes, I have.", "응."),
    ]
    assert dev == []


def test_what_is_no_archive(tmp_path):
    path = tmp_path / "page.zip"
    path.write_text("<html>", encoding="utf-8")
    with pytest.raises(PublicDataError, match="not the archive of tatoeba"):
        parts_of(TATOEBA, path)
    with pytest.raises(PublicDataError, match="not the archive of tatoeba"):
        parts_of(TATOEBA, archive(tmp_path / "other.zip", other_txt="x"))
    with pytest.raises(PublicDataError, match="no English-Korean pair"):
        parts_of(TATOEBA, archive(tmp_path / "empty.zip", kor_txt="\n"))


def test_the_command_writes_what_a_training_reads(tatoeba, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["fetch", "--only", "tatoeba", "--archive", f"tatoeba={tatoeba}", "--out", str(out)]
    assert main(command) == 0
    assert (out / "tatoeba-train.tsv").read_text(encoding="utf-8").startswith("Go.\t가.\n")
    err = capsys.readouterr().err
    assert "CC BY 2.0 FR" in err and "will not be quite the same" in err
    assert main(["fetch", "--only", "elsewhere", "--out", str(out)]) == 2
    assert "no source 'elsewhere'" in capsys.readouterr().err
    assert main(["fetch", "--archive", "tatoeba", "--out", str(out)]) == 2
    assert main(["fetch", "--archive", "tatoeba=nothing.zip", "--out", str(out)]) == 2


def test_an_archive_that_is_there_is_not_fetched_again(tatoeba, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    tatoeba.rename(out / "tatoeba.zip")
    assert main(["fetch", "--only", "tatoeba", "--out", str(out)]) == 0
    assert "tatoeba-train.tsv" in capsys.readouterr().err


def test_the_table_says_whose_text_it_is():
    for source in SOURCES:
        assert source.url.startswith("https://") and source.licence.startswith("CC BY")
        assert source.credit and source.pairs > 0
