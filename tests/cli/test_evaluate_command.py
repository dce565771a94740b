"""`translator evaluate`, on a model that knows its few sentences by heart."""

import json
import sys

import pytest
from conftest import PAIRS, write_tsv

from translator.cli import evaluate, main
from translator.documents import translate_lines, translate_pairs
from translator.pairs import Report, read_pairs

pytest.importorskip("sacrebleu")
pytest.importorskip("numpy")


@pytest.fixture
def files(tmp_path):
    others = [("I am a cook.", "저는 요리사입니다.", "formal"), ("Call 555-0199.", "네.", "any")]
    return [
        str(write_tsv(tmp_path / "known.tsv")),
        str(write_tsv(tmp_path / "new.tsv", others)),
    ]


def test_a_table_with_scores_and_parts(files, trained, tmp_path, capsys):
    out = tmp_path / "out.tsv"
    command = ["evaluate", "--model", str(trained), "--bootstrap", "20", "--out", str(out)]
    assert main([*command, "--data", *files]) == 0
    text = capsys.readouterr().out
    assert f"{len(PAIRS) + 2} pairs" in text
    assert "bs:20" in text and "±" in text and "nw:2" in text and "tok:char" in text
    for name in ("| all |", "| 2-4 words |", "| asked in polite |", "known.tsv |", "new.tsv |"):
        assert name in text
    rows = [line.split("\t") for line in out.read_text(encoding="utf-8").split("\n")[:-1]]
    assert [row[:2] for row in rows[: len(PAIRS)]] == [list(pair[:2]) for pair in PAIRS]
    assert [row[2] for row in rows[-2:]] == ["formal", "formal"]


def test_json_and_a_level_for_all(files, trained, capsys):
    command = ["evaluate", "--model", str(trained), "--bootstrap", "0", "--json", "--robustness"]
    assert main([*command, "--data", files[0], "--style", "polite"]) == 0
    found = json.loads(capsys.readouterr().out)
    [model] = found["models"]
    assert found["comparison"] == [] and model["all"]["sentences"] == len(PAIRS)
    assert model["scores"][0]["metric"] == "chrF" and model["scores"][0]["margin"] is None
    assert set(model["parts"]) >= {"asked in polite"} and "asked in formal" not in model["parts"]
    [typed] = found["robustness"]
    assert {"capitals", "no final mark", "two sentences"} <= {row["kind"] for row in typed}
    whole = next(row for row in typed if row["kind"] == "capitals")
    assert whole["n"] == len(PAIRS) and whole["before"] == whole["after"], "tidied away"
    wrong = next(row for row in typed if row["kind"] == "a letter wrong")
    assert wrong["before"] > wrong["after"]
    assert model["all"]["copied"] == {"share": None, "of": 0}


def test_two_models_are_compared(files, trained, capsys):
    command = ["evaluate", "--compare", "pretrained", str(trained), "--bootstrap", "50"]
    assert main([*command, "--data", files[0]]) == 0
    text = capsys.readouterr().out
    assert "pretrained on" in text and f"first pretrained, second {trained}" in text
    row = next(line for line in text.split("\n") if line.startswith("| chrF |"))
    first, second, difference = (float(cell) for cell in row.split("|")[2:5])
    assert second - first == pytest.approx(difference, abs=0.11)


def test_mistakes(files, trained, tmp_path, capsys):
    (tmp_path / "empty.tsv").write_text("\n", encoding="utf-8")
    assert main(["evaluate", "--data", str(tmp_path / "empty.tsv")]) == 2
    assert "no pair to judge by" in capsys.readouterr().err
    assert main(["evaluate", "--data", str(tmp_path / "nowhere.tsv")]) == 2
    assert "nowhere.tsv: no such file" in capsys.readouterr().err
    assert main(["evaluate", "--data", *files, "--model", ""]) == 2  # not the shipped one
    assert "no such checkpoint" in capsys.readouterr().err
    for models in (["--model", str(trained)], ["--compare", str(trained), str(trained)]):
        assert main(["evaluate", "--data", *files, *models, "--device", "tpu"]) == 2
        assert "device: 'tpu' is not on this machine" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["evaluate", "--data", *files, "--model", "a", "--compare", "a", "b"])


@pytest.fixture
def no_model(monkeypatch):
    """Fails when the work begins."""
    monkeypatch.setattr(evaluate, "load_translator", lambda *_: pytest.fail("too late"))


@pytest.mark.usefixtures("no_model")
@pytest.mark.parametrize(
    ("missing", "extra"), [("sacrebleu.metrics.bleu", "eval"), ("kiwipiepy", "corpus")]
)
def test_what_is_missing_is_told_before_the_work(files, monkeypatch, capsys, missing, extra):
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["evaluate", "--data", *files, "--morphemes"]) == 2
    assert f"pip install -c constraints.txt -e '.[{extra}]'" in capsys.readouterr().err


@pytest.mark.usefixtures("no_model")
def test_what_cannot_be_is_told_before_the_work(files, tmp_path, capsys):
    command = ["evaluate", "--data", *files]
    assert main([*command, "--out", str(tmp_path / "nowhere" / "out.tsv")]) == 2
    assert "out.tsv: cannot be written" in capsys.readouterr().err
    for number in "01":
        assert main([*command, "--compare", "a", "b", "--bootstrap", number]) == 2
        assert f"--bootstrap {number}: a comparison needs samples" in capsys.readouterr().err


def test_settings_are_those_of_the_search(files, trained, capsys):
    command = ["evaluate", "--model", str(trained), "--data", files[1], "--bootstrap", "0"]
    assert main([*command, "--set", "train.lr=1"]) == 2
    assert "--set train.lr=1: only decoding.… has an effect here" in capsys.readouterr().err
    assert main([*command, "--set", "decoding.length_penalty=2"]) == 0
    assert "length_penalty has no effect in greedy search" in capsys.readouterr().err


def test_files_in_another_encoding(trained, tmp_path, capsys):
    path, out = write_tsv(tmp_path / "pairs.tsv"), tmp_path / "out.tsv"
    path.write_bytes(path.read_text(encoding="utf-8").encode("cp949"))
    command = ["evaluate", "--model", str(trained), "--bootstrap", "0", "--data", str(path)]
    assert main([*command, "--out", str(out), "--encoding", "cp949"]) == 0
    assert [row[:2] for row in saved(out)] == [list(pair[:2]) for pair in PAIRS]
    capsys.readouterr()
    assert main(command) == 2
    assert "is not utf-8" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*command, "--encoding", "klingon"])
    assert "unknown or unsuitable encoding 'klingon'; try utf-8 or cp949" in capsys.readouterr().err


def saved(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def test_levels_are_those_of_validation(files, trained, translator, tmp_path):
    """Also of a pair without one. With --style any the tag itself is asked for."""
    out = tmp_path / "out.tsv"
    command = ["evaluate", "--model", str(trained), "--bootstrap", "0", "--out", str(out)]
    pairs = list(read_pairs(files, Report()))
    assert {pair.level for pair in pairs} == {"formal", "polite", "any"}
    assert main([*command, "--data", *files]) == 0
    expected = [line.text for line in translate_pairs(translator, pairs)]
    assert [row[3] for row in saved(out)] == expected
    assert [row[2] for row in saved(out)][-1] == "formal"
    assert main([*command, "--data", *files, "--style", "any"]) == 0
    expected = [line.text for line in translate_lines(translator, [p.src for p in pairs], "any")]
    assert [row[2:] for row in saved(out)] == [["any", text] for text in expected]


def test_of_two_models_both_translations_are_saved(files, trained, tmp_path):
    out = tmp_path / "out.tsv"
    command = ["evaluate", "--compare", str(trained), "pretrained", "--bootstrap", "20"]
    assert main([*command, "--data", *files, "--out", str(out)]) == 0
    rows = saved(out)
    assert {len(row) for row in rows} == {5}
    assert rows[-2][:3] == ["I am a cook.", "저는 요리사입니다.", "formal"]
    assert [row[3] for row in rows[: len(PAIRS)]] == [korean for _, korean, _ in PAIRS]
    assert [row[3] for row in rows] != [row[4] for row in rows]


def test_a_model_is_loaded_once(files, trained, monkeypatch, capsys):
    load, loaded = evaluate.load_translator, []
    monkeypatch.setattr(
        evaluate, "load_translator", lambda *asked: loaded.append(asked) or load(*asked)
    )
    command = ["evaluate", "--model", str(trained), "--bootstrap", "0", "--robustness"]
    assert main([*command, "--data", files[0]]) == 0
    assert loaded == [(str(trained), "cpu")]
    assert "| kind of typing | sentences | chrF, clean | chrF, typed |" in capsys.readouterr().out


def test_a_pair_that_is_too_long_is_named(trained, tmp_path, capsys):
    path = write_tsv(tmp_path / "long.tsv", [*PAIRS, (f"Call {'q' * 300}.", "네.", "formal")])
    command = ["evaluate", "--model", str(trained), "--data", str(path)]
    assert main([*command, "--set", "decoding.too_long=error"]) == 2
    err = capsys.readouterr().err
    assert f"{path}: Call qqq" in err and "…: " in err and "but the model takes 46" in err


def test_what_is_read_is_not_overwritten(trained, tmp_path, capsys):
    path = tmp_path / "test.tsv"
    path.write_text("Hi.\t안녕.\tcasual\n", encoding="utf-8")
    command = ["evaluate", "--model", str(trained), "--data", str(tmp_path / "*.tsv")]
    assert main([*command, "--out", str(tmp_path / "." / "test.tsv")]) == 2
    assert "would overwrite what --data reads" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "Hi.\t안녕.\tcasual\n"
