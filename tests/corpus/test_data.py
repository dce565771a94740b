"""The committed corpus keeps its own rules, and its report is true."""

import itertools
from pathlib import Path

import pytest

from translator.cli import main
from translator.corpus.build import draw_pairs
from translator.corpus.check import check_corpus, check_lines
from translator.corpus.coverage import read_word_list
from translator.corpus.drawing import FrameSet
from translator.corpus.lines import Line, corpus_parts, sentence_key
from translator.corpus.report import report_text
from translator.levels import SPOKEN

DATA = Path(__file__).parents[2] / "data"
SHALL_WE = {"pn.taxi.or.walk"}
"""Frames that ask with -ㄹ까요 at the level formal, which has no ending of its own for it."""
SMALL = {
    "handwritten/a.tsv": "I am a student.\t저는 학생입니다.\tformal\n",
    "heldout/dev.tsv": "It is raining.\t비가 옵니다.\tformal\n",
    "converted/polite.tsv": "I am a student.\t저는 학생이에요.\tpolite\n",
    "lexicon/a.tsv": "apple\tfood\tapple\t사과\t\n",
    "frames/a.tsv": "see\tI see {x:a}.\t{x}{을} 봅니다.\t\t\t\tx=food\n",
    "conjugations.tsv": "먹다\t습니다\t먹습니다\n",
    "english-words.txt": "the\nstudent\n",
}


@pytest.fixture(scope="module")
def parts():
    return corpus_parts(DATA)


@pytest.fixture(scope="module")
def frame_set():
    return FrameSet.read(DATA)


@pytest.fixture
def small(tmp_path):
    """A corpus of a few lines without a fault."""
    for name, text in SMALL.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_corpus_keeps_the_rules(parts):
    assert check_corpus(parts) == []


def test_every_sentence_has_a_formal_line_and_stands_once(parts):
    by_hand = [*parts["handwritten"], *parts["heldout"]]
    formal = [sentence_key(line.en) for line in by_hand if line.level == "formal"]
    assert len(formal) == len(set(formal)) == len({sentence_key(line.en) for line in by_hand})


def test_a_thousand_sentences_are_held_out_for_each_use(parts):
    held_out = {(line.file, line.en) for line in parts["heldout"]}
    for name in ("dev", "test"):
        assert sum(file == name for file, _ in held_out) == 1000


def test_every_frame_can_be_drawn_at_every_level(frame_set):
    for frame in frame_set.frames:
        assert len(frame.korean) == 4, frame.id
        for level in frame.korean:
            assert frame_set.draw(frame, 2, level, seed=5), frame.id


def test_drawn_pairs_keep_the_rules(frame_set):
    n = 0
    for frame, level in itertools.product(frame_set.frames, SPOKEN):
        for pair in frame_set.draw(frame, 2, level, seed=9):
            n += 1
            problems = [finding.problem for finding in check_lines([Line(frame.id, *pair)])]
            wrong = [problem for problem in problems if not is_copied(problem, pair.src)]
            assert not wrong or frame.id in SHALL_WE, (pair, wrong)
            assert "{" not in pair.src + pair.tgt
            assert "  " not in pair.src
    assert n > 8 * len(frame_set.frames) * 0.95


def is_copied(problem, english):
    """Whether a finding is about Latin letters that the Korean took over from the English."""
    word = problem.removeprefix("Latin letters in the Korean: ")
    return word != problem and word in english


def test_drawing_is_deterministic_and_avoids_what_is_held_out(parts):
    held_out = {sentence_key(line.en) for line in parts["heldout"]}
    first, again = (draw_pairs(DATA, 1, ["formal"], seed=3) for _ in range(2))
    assert first == again
    assert not {sentence_key(pair.src) for pair in first} & held_out
    kept = draw_pairs(DATA, 1, ["formal"], seed=3, held_out=True)
    assert kept and not set(kept) & set(first)


def test_the_report_is_true(parts, frame_set):
    text = report_text(parts, frame_set, read_word_list(DATA / "english-words.txt"))
    assert (DATA / "REPORT.md").read_text(encoding="utf-8") == text + "\n"


def test_a_good_corpus_passes_the_check(small, capsys):
    assert main(["corpus", "--data", str(small), "check"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("# The corpus in figures")
    assert "no findings in 3 pairs and 1 frames" in captured.err
    assert main(["corpus", "--data", str(small), "report"]) == 0
    assert (small / "REPORT.md").read_text(encoding="utf-8") == captured.out


def test_every_fault_is_told_and_not_only_the_first(small, capsys):
    with open(small / "handwritten" / "a.tsv", "a", encoding="utf-8") as file:
        file.write("\t안녕하세요.\tpolite\nSit down.\t앉으세요.\tpolite\n")
    assert main(["corpus", "--data", str(small), "check"]) == 2
    captured = capsys.readouterr()
    assert "a.tsv:2: the English side is not English" in captured.out
    assert "a.tsv:3: no formal line: Sit down." in captured.out
    assert "findings; mend the lines named above" in captured.err


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


def test_a_file_is_read_as_training_would(tmp_path, capsys):
    path = tmp_path / "mine.tsv"
    rows = "Hello.\t안녕하세요.\nBad\nBye.\t안녕히 가세요.\nWorse\nOdd.\t이상해.\tx\n"
    path.write_bytes(rows.encode("cp949"))
    assert main(["corpus", "read", str(path), "--encoding", "cp949"]) == 0
    out, err = capsys.readouterr()
    assert [line.split(": ")[0] for line in out.split("\n")[:-1]] == [
        f"{path}:{n}" for n in (2, 4, 5)
    ]
    assert out.startswith(f"{path}:2: no tab between English and Korean\n")
    assert "2 pairs dropped: no tab" in err and err.endswith("2 pairs (polite 2)\n")
    assert main(["corpus", "read", str(tmp_path / "nowhere.tsv")]) == 2


def test_a_file_is_split_by_english_sentences(tmp_path, capsys):
    mine, test, rest = (tmp_path / f"{name}.tsv" for name in ("mine", "test", "rest"))
    rows = [f"This is sentence {word}.\t이것은 {word}입니다." for word in "abcdefgh"]
    rows += [f"THIS is  sentence {word}!\t이건 {word}야!\tcasual" for word in "abcdefgh"] + ["Bad"]
    mine.write_text("\n".join(rows), encoding="utf-8")
    command = ["corpus", "split", str(mine), "--size", "3", "--train", str(rest)]
    assert main([*command, "--test", str(test)]) == 0
    err = capsys.readouterr().err
    assert "1 pair dropped: no tab" in err and f"{test}: 6 lines" in err and "10 lines" in err
    found = {path: path.read_text(encoding="utf-8").split("\n")[:-1] for path in (test, rest)}
    chosen = {line.split("\t")[0].rstrip(".!")[-1] for line in found[test]}
    others = {line.split("\t")[0].rstrip(".!")[-1] for line in found[rest]}
    assert len(chosen) == 3 and chosen | others == set("abcdefgh") and not chosen & others
    assert {line.split("\t")[2] for line in found[test]} == {"formal", "casual"}
    assert "THIS is sentence" in "".join(found[test]), "as training reads it"
    assert main([*command, "--test", str(test), "--seed", "2"]) == 0
    assert test.read_text(encoding="utf-8").split("\n")[:-1] != found[test]
    for wrong in (mine, rest):
        assert main([*command, "--test", str(wrong)]) == 2
        assert "must be different files" in capsys.readouterr().err
    by_pattern = ["corpus", "split", f"{tmp_path}/mi*.tsv", "--size", "3"]
    assert main([*by_pattern, "--train", str(mine), "--test", str(test)]) == 2
    assert "must be different files" in capsys.readouterr().err
    assert mine.read_text(encoding="utf-8") == "\n".join(rows)
    assert main([*command[:3], "--size", "8", "--train", str(rest), "--test", str(test)]) == 2
    assert "8 takes every English sentence" in capsys.readouterr().err
    mine.write_text("no tab")
    assert main([*command, "--test", str(test)]) == 2
    err = capsys.readouterr().err
    assert "1 pair dropped: no tab" in err and "no usable pair" in err
