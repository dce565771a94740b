import sys

import pytest
from conftest import PAIRS

from translator.cli import main
from translator.export import ExportReport

pytest.importorskip("ctranslate2")

ENGLISH = [en for en, _, level in PAIRS if level == "formal"]
KOREAN = [ko for _, ko, level in PAIRS if level == "formal"]


def test_export_and_translate_with_it(trained, tmp_path, capsys):
    sentences = tmp_path / "check.txt"
    sentences.write_text("\n".join([*ENGLISH, "", ""]), encoding="utf-8-sig")
    out = str(tmp_path / "exported")
    arguments = ["--model", str(trained), "--out", out, "--sentences", str(sentences)]
    assert main(["export", "--to", "ctranslate2", "--quantization", "int8", *arguments]) == 0
    said = capsys.readouterr().err
    assert f"of {len(ENGLISH)} sentences CTranslate2 translates {len(ENGLISH)} as PyTorch" in said
    assert "in int8 " in said
    assert "chrF" in said

    assert main(["translate", "-v", "--model", out, *ENGLISH]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == KOREAN
    assert "CTranslate2 on cpu, int8_float32" in captured.err

    assert main(["export", "--to", "ctranslate2", *arguments]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["translate", "--model", out, "--no-cache", "Hello."]) == 2
    capsys.readouterr()
    assert main(["translate", "--model", out, "--device", "cuda", "Hello."]) == 2
    assert "an exported model runs on the CPU, not on cuda" in capsys.readouterr().err


def test_the_level_of_the_check_is_the_one_asked_for(trained, tmp_path, monkeypatch):
    levels = []

    def noting(_checkpoint, _path, _quantization, _sentences, style):
        levels.append(style)
        return ExportReport(sentences=1, same_in_float32=1, same=1, chrf=100.0)

    monkeypatch.setattr("translator.cli.export.export_model", noting)
    arguments = ["export", "--to", "ctranslate2", "--model", str(trained)]
    for more in ([], ["--style", "polite"]):
        assert main([*arguments, "--out", str(tmp_path / "out"), *more]) == 0
    assert levels == ["formal", "polite"]


def test_bad_sentences(trained, tmp_path, capsys):
    empty = tmp_path / "empty.txt"
    empty.write_text("\n \n", encoding="utf-8")
    arguments = ["export", "--to", "ctranslate2", "--model", str(trained)]
    windows = tmp_path / "windows.txt"
    windows.write_bytes("Thank you.\n".encode("utf-16"))
    for path, message in (
        (empty, "no sentence to compare"),
        (tmp_path / "no", "no: cannot be read: No such file"),
        (windows, "windows.txt: the text is UTF-16; save it as UTF-8"),
    ):
        out = str(tmp_path / "out")
        assert main([*arguments, "--out", out, "--sentences", str(path)]) == 2
        assert message in capsys.readouterr().err


def test_without_the_library_the_extra_is_named(trained, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    arguments = ["export", "--to", "ctranslate2", "--model", str(trained)]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    assert "pip install -c constraints.txt -e '.[export]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
