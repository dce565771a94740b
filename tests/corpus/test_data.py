"""The committed corpus keeps its own rules, and its report is true."""

from pathlib import Path

import pytest

from translator.cli import main
from translator.corpus.build import draw_pairs
from translator.corpus.check import check_apart, check_lines, sentence_key
from translator.corpus.frames import Grammar
from translator.corpus.report import corpus_parts, write_report

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def parts():
    return corpus_parts(DATA)


@pytest.fixture(scope="module")
def grammar():
    return Grammar.read(DATA)


def test_every_line_keeps_the_rules(parts):
    assert check_lines([*parts["handwritten"], *parts["heldout"]]) == []
    assert check_lines(parts["converted"]) == []


def test_every_sentence_has_a_formal_line_and_stands_once(parts):
    by_hand = [*parts["handwritten"], *parts["heldout"]]
    formal = [sentence_key(line.en) for line in by_hand if line.level == "formal"]
    assert len(formal) == len(set(formal)) == len({sentence_key(line.en) for line in by_hand})


def test_nothing_held_out_is_in_training(parts):
    dev = [line for line in parts["heldout"] if "dev.tsv" in line.place]
    test = [line for line in parts["heldout"] if "test.tsv" in line.place]
    assert len({line.en for line in dev}) == len({line.en for line in test}) == 1000
    for train in (parts["handwritten"], parts["converted"]):
        assert check_apart({"train": train, "dev": dev, "test": test}) == []


def test_every_frame_can_be_drawn_at_every_level(grammar):
    for frame in grammar.frames:
        assert len(frame.korean) == 4, frame.id
        for level in frame.korean:
            assert grammar.draw(frame, 2, level, seed=5), frame.id


def test_drawn_pairs_keep_the_rules(grammar):
    lines = []
    for level in ("formal", "polite", "casual", "plain"):
        for frame in grammar.frames:
            for pair in grammar.draw(frame, 2, level, seed=9):
                assert "{" not in pair.src + pair.tgt
                assert "  " not in pair.src + pair.tgt, pair
                assert pair.src[0] == pair.src[0].upper()
                lines.append(pair)
    assert len(lines) > 8 * len(grammar.frames) * 0.95


def test_drawing_is_deterministic_and_avoids_what_is_held_out(parts):
    held_out = {sentence_key(line.en) for line in parts["heldout"]}
    first, again = (draw_pairs(DATA, 1, ["formal"], seed=3) for _ in range(2))
    assert first == again
    assert not {sentence_key(pair.src) for pair in first} & held_out
    kept = draw_pairs(DATA, 1, ["formal"], seed=3, held_out=True)
    assert kept and not set(kept) & set(first)


def test_the_report_is_true():
    assert (DATA / "REPORT.md").read_text(encoding="utf-8") == write_report(DATA)


def test_the_commands(tmp_path, capsys):
    out = tmp_path / "pairs.tsv"
    command = ["corpus", "--data", str(DATA), "draw", "--out", str(out), "--per-frame", "1"]
    assert main([*command, "--levels", "polite"]) == 0
    rows = [line.split("\t") for line in out.read_text(encoding="utf-8").strip().split("\n")]
    assert {row[2] for row in rows} == {"polite"}
    assert main(["corpus", "--data", str(tmp_path / "nowhere"), "check"]) == 2
    assert "no such data directory" in capsys.readouterr().err
    assert main([*command, "--levels", "polite, rude"]) == 2
    assert "unknown level 'rude'" in capsys.readouterr().err


def test_a_broken_corpus_fails_the_check(tmp_path, capsys):
    for name in ("handwritten", "heldout", "converted", "lexicon", "frames"):
        (tmp_path / name).mkdir()
    (tmp_path / "conjugations.tsv").write_text("")
    assert main(["corpus", "--data", str(tmp_path), "check"]) == 2
    assert "handwritten: no corpus file there" in capsys.readouterr().err
    for part in ("handwritten", "heldout", "converted"):
        text = f"Hello, {part}.\t안녕하세요.\tformal\n"
        (tmp_path / part / "a.tsv").write_text(text, encoding="utf-8")
    assert main(["corpus", "--data", str(tmp_path), "check"]) == 2
    captured = capsys.readouterr()
    assert "a.tsv:1: the ending does not show formal" in captured.out
    assert "3 findings" in captured.err
