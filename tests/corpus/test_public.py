"""Public archives, made up here in the form of the real ones, and `translator fetch`."""

import hashlib
import json
import zipfile

import pytest

from translator.cli import main
from translator.corpus import public
from translator.corpus.public import SOURCES, PublicDataError, keys_of, parts_of, unseen_sentences
from translator.heldout import near_duplicate_key

TATOEBA, TURNS = SOURCES
ROWS = [
    ("Go.", "가."),
    ("Hi.", "안녕."),
    ("Hi.", "안녕하세요."),
    ("Run!", "뛰어!"),
    ("Run!", "뛰어!"),
    ("No Korean.", "none"),
]


def archive(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, text in members.items():
            file.writestr(name, text)
    return path


def turns(path, *rows):
    return archive(path, {"d/a.jsonl": "\n".join(map(json.dumps, rows)), "d/README.md": "x y"})


@pytest.fixture
def tatoeba(tmp_path):
    text = "".join(f"{en}\t{ko}\tCC-BY 2.0 (France) Attribution: x\r\n" for en, ko in ROWS)
    return archive(tmp_path / "kor-eng.zip", {"kor.txt": text, "_about.txt": "x"})


@pytest.fixture
def dev_is_hi(monkeypatch):
    key = hashlib.sha256(near_duplicate_key("Hi.").encode()).hexdigest()[:16]
    monkeypatch.setattr(public, "_dev_keys", lambda: frozenset([key]))


@pytest.mark.usefixtures("dev_is_hi")
def test_train_and_dev_are_apart_and_each_pair_comes_once(tatoeba):
    train, dev, removed, report = parts_of(TATOEBA, tatoeba)
    assert [pair[:2] for pair in train] == [("Go.", "가."), ("Run!", "뛰어!")]
    assert [pair[:2] for pair in dev] == [("Hi.", "안녕."), ("Hi.", "안녕하세요.")]
    assert removed == 0
    assert report.kept == 4
    assert report.lines() == [
        "1 pair dropped: a pair given twice (first: kor.txt:5)",
        "1 pair dropped: no Hangul on the Korean side (first: kor.txt:6)",
    ]


@pytest.mark.usefixtures("dev_is_hi")
def test_a_test_set_is_removed_by_either_side(tatoeba, tmp_path):
    test = tmp_path / "test.txt"
    test.write_text("eng\tkor\trun\tnothing\neng\tkor\tGone\t안녕\n", encoding="utf-8")
    train, dev, removed, _ = parts_of(TATOEBA, tatoeba, unseen_sentences([test]))
    assert [pair.src for pair in train] == ["Go."]
    assert [pair.tgt for pair in dev] == ["안녕하세요."]
    assert removed == 2
    assert keys_of(["Run!", "  "]) == {"run", ""}
    assert "" not in unseen_sentences([test])


def test_turns_are_put_side_by_side(tmp_path):
    path = turns(
        tmp_path / "x.zip",
        {
            "source": "P1: <b>밥</b> 먹었어?\nP2 :응. ",
            "zeroShot": "P1: Did you eat?\nP2: Yes.",
            "humanTranslation": "p1: Have you<b> eaten?</b>\n P2: Yes, I have — it’s 7:30.\n",
        },
        {"source": "P1: 하나.\nP2: 둘.", "humanTranslation": "P1: Only one turn here."},
        {"source": "P1: 하나."},
        ["no conversation"],
        {"source": "7:30에 봐.\n저는 <3.", "humanTranslation": "7:30 is fine.\nI <3 you * 2."},
    )
    train, dev, _, report = parts_of(TURNS, path)
    assert [pair[:2] for pair in train] == [
        ("Have you eaten?", "밥 먹었어?"),
        ("Yes, I have — it’s 7:30.", "응."),
        ("7:30 is fine.", "7:30에 봐."),
        ("I <3 you * 2.", "저는 <3."),
    ]
    assert dev == []
    assert report.lines() == [
        "3 pairs dropped: a conversation that is not translated turn by turn (first: d/a.jsonl:2)"
    ]


def test_what_is_no_archive(tmp_path):
    path = tmp_path / "page.zip"
    path.write_text("<html>", encoding="utf-8")
    with pytest.raises(PublicDataError, match=r"not the archive of tatoeba .* delete it, and "):
        parts_of(TATOEBA, path)
    with pytest.raises(PublicDataError, match="not the archive of tatoeba"):
        parts_of(TATOEBA, archive(tmp_path / "other.zip", {"other.txt": "x"}))
    with pytest.raises(PublicDataError, match="no English-Korean pair"):
        parts_of(TATOEBA, archive(tmp_path / "empty.zip", {"kor.txt": "\n"}))
    with pytest.raises(PublicDataError, match="not the archive of ncsoft"):
        parts_of(TURNS, archive(tmp_path / "broken.zip", {"d/a.jsonl": "{"}))


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_archive_is_told_in_one_line(tmp_path, compression):
    rows = "".join(f"Sentence {n}.\t문장 {n * 7919}.\tCC\n" for n in range(30))
    path = archive(tmp_path / "whole.zip", {"kor.txt": rows}, compression)
    whole, told = path.read_bytes(), 0
    for place in range(0, len(whole), 3):
        broken = bytearray(whole)
        broken[place] ^= 0x55
        path.write_bytes(broken)
        try:
            parts_of(TATOEBA, path)  # a byte that nobody reads does no harm
        except PublicDataError as error:
            told += 1
            assert "\n" not in str(error) and str(path) in str(error)
    assert told > len(whole) // 10
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(PublicDataError, match="damaged"):
        parts_of(TATOEBA, path)


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


def test_the_command_leaves_out_what_is_to_stay_unseen(tatoeba, tmp_path, capsys):
    unseen = tmp_path / "test.tsv"
    unseen.write_text("Go\tgone\n", encoding="utf-8")
    out = tmp_path / "out"
    command = ["fetch", "--only", "tatoeba", "--archive", f"tatoeba={tatoeba}", "--out", str(out)]
    assert main([*command, "--remove", str(unseen)]) == 0
    assert not (out / "tatoeba-train.tsv").read_text(encoding="utf-8").startswith("Go.")
    err = capsys.readouterr().err
    assert "tatoeba: 1 pair left out to stay unseen" in err
    assert "1 pair dropped: no Hangul on the Korean side (first: kor.txt:6)" in err


def test_an_archive_without_effect_is_refused(tatoeba, tmp_path, capsys):
    command = ["fetch", "--out", str(tmp_path / "out"), "--archive", f"tatoeba={tatoeba}"]
    assert main([*command, "--only", "ncsoft"]) == 2
    assert "--archive tatoeba=…: --only leaves tatoeba out" in capsys.readouterr().err
    assert main([*command, f"tatoeba={tatoeba}"]) == 2
    assert "tatoeba is given twice" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


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
