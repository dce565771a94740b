"""`translator evaluate`, on a model that knows its few sentences by heart."""

import json

import pytest
from conftest import PAIRS, write_tsv

from translator.cli import main

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
    assert whole["n"] == len(PAIRS) and whole["before"] > whole["after"]
    assert model["all"]["copied"] == {"share": None, "of": 0}


def test_two_models_are_compared(files, trained, capsys):
    command = ["evaluate", "--compare", "pretrained", str(trained), "--bootstrap", "50"]
    assert main([*command, "--data", files[0]]) == 0
    text = capsys.readouterr().out
    assert "pretrained on" in text and f"{trained} against pretrained" in text
    row = next(line for line in text.split("\n") if line.startswith("| chrF |"))
    first, second, difference = (float(cell) for cell in row.split("|")[2:5])
    assert second - first == pytest.approx(difference, abs=0.11)


def test_mistakes(files, tmp_path, capsys):
    (tmp_path / "empty.tsv").write_text("\n", encoding="utf-8")
    assert main(["evaluate", "--data", str(tmp_path / "empty.tsv")]) == 2
    assert "no pair to judge by" in capsys.readouterr().err
    assert main(["evaluate", "--data", str(tmp_path / "nowhere.tsv")]) == 2
    with pytest.raises(SystemExit):
        main(["evaluate", "--data", *files, "--model", "a", "--compare", "a", "b"])
