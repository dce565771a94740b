"""`translator attention` and `translator trace`, on a model trained on a few sentences."""

import itertools
import json

import pytest
from conftest import PAIRS

from translator.cli import main

TEXT = PAIRS[0][0]


def test_a_table_in_the_terminal(trained, capsys):
    assert main(["attention", TEXT, "--model", str(trained)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{TEXT} → ")
    assert "cross · all layers · mean of heads" in out and "<formal>" in out and "%" not in out


def test_words_layers_heads_and_kinds(trained, capsys):
    model = ["--model", str(trained), "--style", "polite"]
    assert main(["attention", TEXT, "--head", "all", "--layer", "2", *model]) == 0
    out = capsys.readouterr().out
    assert [f"head {n}" in out for n in range(1, 6)] == [True, True, True, True, False]
    assert "<polite>" in out
    assert main(["attention", TEXT, "--head", "all", "--layer", "all", *model]) == 0
    titles = [line for line in capsys.readouterr().out.split("\n") if line.startswith("cross")]
    assert titles == [f"cross · layer {n} · head {m}" for n in (1, 2) for m in (1, 2, 3, 4)]
    assert main(["attention", TEXT, "--kind", "decoder", "--words", "--head", "1", *model]) == 0
    assert "decoder · all layers · head 1" in capsys.readouterr().out


def test_a_picture_and_the_numbers(trained, tmp_path, capsys):
    picture = tmp_path / "map.svg"
    assert main(["attention", TEXT, "--model", str(trained), "--out", str(picture)]) == 0
    assert capsys.readouterr().out.startswith(f"{TEXT} → ")
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    assert main(["attention", TEXT, "--model", str(trained), "--json", "--beam-size", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["text"] == TEXT and found["translation"]
    assert len(found["cross"]) == 2 and len(found["cross"][0]) == 4
    for row in found["cross"][0][0]:
        assert sum(row) == pytest.approx(1, abs=1e-3)


def test_a_picture_as_numbers_and_as_png(trained, tmp_path):
    command = ["attention", TEXT, "--model", str(trained), "--out"]
    numbers = tmp_path / "map.json"
    assert main([*command, str(numbers)]) == 0
    [heatmap] = json.loads(numbers.read_text(encoding="utf-8"))
    assert heatmap["title"] == "cross · all layers · mean of heads"
    pytest.importorskip("matplotlib")
    assert main([*command, str(tmp_path / "map.png")]) == 0
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_numbers_or_a_picture_but_not_both(trained, tmp_path, capsys):
    picture = tmp_path / "map.svg"
    with pytest.raises(SystemExit):
        main(["attention", TEXT, "--model", str(trained), "--json", "--out", str(picture)])
    assert "not allowed with argument" in capsys.readouterr().err
    assert not picture.exists()


@pytest.mark.parametrize(
    "command, message",
    [
        (["attention", TEXT, "--layer", "9"], "layer 9: the model has layers 1 to 2"),
        (["attention", TEXT, "--head", "x"], '--head x: expected a number or "all"'),
        (["attention", TEXT, "--layer", "x"], '--layer x: expected a number or "all"'),
        (["attention", TEXT, "--out", "map.gif"], "the ending must be .svg, .png or .json"),
        (
            ["attention", TEXT, "--out", "map.svg", "--font", "X"],
            "only a picture .png takes a font",
        ),
        (["attention", TEXT, "--font", "X"], "--font X: only a picture .png takes a font"),
        (["attention", TEXT, "--json", "--layer", "99"], "--layer: --json has the pieces of all"),
        (
            ["attention", TEXT, "--json", "--words", "--kind", "cross"],
            "--kind, --words: --json has",
        ),
        (["attention", TEXT, "--device", "tpu"], "device: 'tpu' is not on this machine"),
        (["attention", " "], "there is no text"),
        (["attention", "I am. You are."], "2 sentences; look at one at a time"),
        (["trace", "very " * 60], "pieces; at most 46 can be looked at"),
        (["trace", "\t"], "there is no text"),
        (["trace", TEXT, "--device", "tpu"], "device: 'tpu' is not on this machine"),
    ],
)
def test_mistakes_are_one_line(trained, capsys, command, message):
    assert main([*command, "--model", str(trained)]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def test_trace_tells_the_story_in_order(trained, capsys):
    assert main(["trace", TEXT, "--model", str(trained)]) == 0
    out = capsys.readouterr().out
    places = [
        out.index(text)
        for text in (
            "1. Tokens",
            "encoder.layers.1.self_attn",
            "decoder.layers.0.cross_attn",
            "3. Three attentions",
            "4. Masks",
            "■ ·",
            "5. Greedy decoding",
            "step 1: read <s>\n",
            "so far:",
            "step 2: read <s> ▁",
        )
    ]
    assert places == sorted(places)
    assert "(1, 4, " in out  # the shape of four heads' weights


def mask_rows(out: str, name: str) -> list[str]:
    """The labels at the rows of one of the masks."""
    _, _, rest = out.partition("4. Masks")
    _, _, rest = rest.partition(f"{name}, (")
    rows = itertools.takewhile(lambda line: {*line} & {*"■·"}, rest.split("\n")[1:])
    return [row.split()[0] for row in rows]


def test_rows_of_a_mask_have_the_names_that_the_maps_have(trained, translator, capsys):
    assert main(["trace", TEXT, "--model", str(trained)]) == 0
    out = capsys.readouterr().out
    [translation] = translator.translate([TEXT])
    assert mask_rows(out, "masked self-attention") == ["<s>", *translation.pieces]
    assert mask_rows(out, "cross-attention") == [*translation.pieces, "</s>"]


def test_a_mask_that_is_too_wide_is_not_left_out_without_a_word(trained, capsys):
    assert main(["trace", "q" * 41, "--model", str(trained)]) == 0
    out = capsys.readouterr().out
    assert "not drawn: it is wider than 40 columns" in out
    assert mask_rows(out, "encoder self-attention") == []


def test_trace_as_json(trained, capsys):
    assert main(["trace", TEXT, "--model", str(trained), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["text"] == TEXT and found["steps"][-1]["text"] == found["translation"]


def test_an_exported_model_cannot_be_looked_into(trained, tmp_path, capsys):
    pytest.importorskip("ctranslate2")
    sentences = tmp_path / "sentences.txt"
    sentences.write_text(TEXT + "\n", encoding="utf-8")
    out = str(tmp_path / "exported")
    export = ["export", "--to", "ctranslate2", "--model", str(trained), "--out", out]
    assert main([*export, "--sentences", str(sentences)]) == 0
    for command in ("attention", "trace"):
        assert main([command, TEXT, "--model", out]) == 2
        assert "an exported model shows neither weights nor attention" in capsys.readouterr().err


def test_trace_warns_as_the_other_commands_do(trained, capsys):
    for command in ("attention", "trace"):
        assert main([command, "안녕하세요", "--model", str(trained)]) == 0
        assert "translator: the source has no English letters\n" in capsys.readouterr().err
