import pytest

from translator.corpus.check import (
    check_apart,
    check_corpus,
    check_formal,
    check_lines,
    shows_level,
)
from translator.corpus.coverage import count_grammar, count_words, lemmas, length_class
from translator.corpus.lines import Line


def problems(en, ko, level="formal"):
    return [finding.problem for finding in check_lines([Line("here:1", en, ko, level)])]


def test_a_good_line_has_no_findings():
    assert problems("I am a student.", "저는 학생입니다.") == []
    assert problems("It's 3 o'clock.", "세 시, 3시입니다.") == []
    assert problems("We bought a new TV.", "우리는 새 TV를 샀습니다.") == []


@pytest.mark.parametrize(
    ("en", "ko", "level", "problem"),
    [
        ("Hi.", "안녕하십니까.", "rude", "expected English, Korean and a level"),
        ("Hi. ", "안녕하십니까.", "formal", "space at an edge"),
        ("안녕.", "안녕하십니까.", "formal", "the English side is not English"),
        ("Hello.", "Hello.", "formal", "the Korean side is not Korean"),
        ("", "안녕하세요.", "polite", "the English side is not English"),
        ("Hello.", "", "polite", "the Korean side is not Korean"),
        (
            "I like Python.",
            "저는 Python을 좋아합니다.",
            "formal",
            "Latin letters in the Korean: Python",
        ),
        ("It is 7.", "칠입니다.", "formal", "digits of the English are missing in the Korean: 7"),
        ('He said "yes.', "그는 네라고 했습니다.", "formal", 'unbalanced ": He said'),
        ("I can go.", "저는 갈수 있습니다.", "formal", "spacing or spelling at '갈수 있'"),
        ("It works.", "이제 되요.", "polite", "spacing or spelling at '되요'"),
        ("I am a student.", "저는 학생이에요.", "formal", "the ending does not show formal"),
        ("I am a student.", "저는 학생입니다.", "plain", "the ending does not show plain"),
        (
            "No.",
            "아니요, 그것은 전혀 제가 말하고 싶었던 것이 아니었습니다.",
            "formal",
            "suspicious lengths",
        ),
    ],
)
def test_each_fault_is_found(en, ko, level, problem):
    assert any(found.startswith(problem) for found in problems(en, ko, level)), problems(
        en, ko, level
    )


def test_duplicates_differ_only_in_case_and_marks():
    lines = [
        Line("a:1", "Come here!", "이리 오십시오!", "formal"),
        Line("a:2", "come here", "여기로 오십시오.", "formal"),
        Line("a:3", "Come here!", "이리 오세요!", "polite"),
    ]
    [finding] = check_lines(lines)
    assert str(finding) == "a:2: the same English and level as a:1"


def test_near_duplicates_across_parts_are_found():
    train = [Line("t:1", "I'm 5.", "다섯 살입니다.", "formal")]
    dev = [Line("d:1", "Im 17", "열일곱 살입니다.", "formal")]
    [finding] = check_apart({"train": train, "dev": dev})
    assert str(finding) == "t:1: nearly the same English in dev: d:1"
    assert check_apart({"train": train, "dev": []}) == []


def test_every_sentence_needs_a_formal_line():
    lines = [
        Line("a:1", "Come here!", "이리 오십시오!", "formal"),
        Line("a:2", "Come here!", "이리 오세요!", "polite"),
        Line("a:3", "Sit down.", "앉으세요.", "polite"),
        Line("a:4", "Sit down.", "앉아.", "casual"),
        Line("a:5", "no columns", "", ""),
    ]
    [finding] = check_formal(lines)
    assert str(finding) == "a:3: no formal line: Sit down."


@pytest.mark.parametrize("part", ["handwritten", "converted"])
def test_every_file_of_heldout_is_apart_from_what_is_trained_on(part):
    parts = {
        "handwritten": [Line("hand/a.tsv:1", "It rains.", "비가 옵니다.", "formal")],
        "heldout": [
            Line("heldout/new.tsv:1", "I am here.", "저는 여기 있습니다.", "formal"),
            Line("heldout/dev.tsv:1", "Thank you.", "감사합니다.", "formal"),
        ],
        "converted": [Line("converted/plain.tsv:1", "It rains.", "비가 온다.", "plain")],
    }
    assert check_corpus(parts) == []
    parts[part].append(Line(f"{part}:9", "I am here!", "나는 여기 있다!", "plain"))
    findings = [str(finding) for finding in check_corpus(parts)]
    assert f"{part}:9: nearly the same English in heldout/new: heldout/new.tsv:1" in findings
    parts[part].pop()
    parts["heldout"].append(Line("heldout/dev.tsv:2", "i am here", "저 여기 있습니다", "formal"))
    findings = [str(finding) for finding in check_corpus(parts)]
    assert any("nearly the same English in heldout/dev" in finding for finding in findings)


def test_quoted_speech_and_fragments_keep_their_own_level():
    assert shows_level('그는 "빨리 와."라고 말했습니다.', "formal")
    assert shows_level("감자 한 봉지", "formal", fragment=True)
    assert shows_level("네. 알겠습니다.", "formal")
    assert not shows_level("네. 알겠어요.", "formal")
    assert shows_level("어디 가니?", "casual") and shows_level("어디 가니?", "plain")


def test_words_are_counted_in_all_their_forms():
    sentences = ["She went home.", "They're going.", "He stopped running.", "My cities!"]
    counts = count_words(sentences, ["go", "be", "stop", "run", "city", "I", "tree"])
    assert counts == {"go": 2, "be": 1, "stop": 1, "run": 1, "city": 1, "I": 1, "tree": 0}
    assert "not" in lemmas("don't") and "do" in lemmas("don't")


def test_grammar_is_counted():
    counts = count_grammar(["Have you seen it?", "If I were you, I would go.", "Don't run!"])
    assert counts["yes-no question"] == 1
    assert counts["unreal conditional"] == 1
    assert counts["imperative"] == 1


@pytest.mark.parametrize(
    ("n", "name"), [(1, "1-4"), (4, "1-4"), (5, "5-7"), (8, "8-15"), (16, "16+")]
)
def test_length_classes(n, name):
    assert length_class(" ".join(["word"] * n)) == name
