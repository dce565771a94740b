import pytest

from translator.evaluation import Judged, copy_accuracy, disturbed, grouped, repeats, summarize
from translator.metrics import EvaluationError
from translator.pairs import Pair


@pytest.mark.fault("B84")
def test_copy_accuracy():
    sources = ["Call 010-1234 at 19:30.", "See https://example.org/a?b=1 now.", "I have 2 dogs."]
    good = [
        "19:30에 010-1234로 전화하세요.",
        "https://example.org/a?b=1 을 보세요.",
        "개가 두 마리.",
    ]
    assert copy_accuracy(sources, good) == (3, 3)
    assert copy_accuracy(sources, good).share == 1
    bad = [good[0].replace("19:30", "9:30"), "보세요.", good[2]]
    assert copy_accuracy(sources, bad) == (1, 3)
    assert copy_accuracy(["Hello."], ["안녕하세요."]).share is None
    with pytest.raises(EvaluationError, match="1 translations for 3 sources"):
        copy_accuracy(sources, good[:1])


def judged(src, tgt, translation, asked="formal", *, finished=True, group="a"):
    return Judged(Pair(src, tgt, asked), asked, translation, finished, group)


ITEMS = [
    judged("I am here.", "저는 여기 있습니다.", "저는 여기 있습니다."),
    judged(
        "He ate 15 red apples there.",
        "그는 거기에서 사과 15개를 먹었어요.",
        "사과를 사과를",
        "polite",
    ),
    judged("Go!", "가!", "가라!", "casual", finished=False, group="b"),
    judged("It is so.", "그렇다.", "그래요.", "plain", group="b"),
    judged("ha ha", "하하 하하", "하하 하하", group="b"),
]


def test_a_summary_counts_what_it_says():
    pytest.importorskip("sacrebleu")
    summary = summarize(ITEMS)
    assert summary.n == 5
    assert summary.exact == (2, 5)
    assert summary.copied == (0, 1)
    assert summary.level == (2, 3)  # "사과를" and "하하" show none
    assert summary.repeated == (1, 5)  # "하하 하하" is right
    assert summary.cut == (1, 5)
    assert 0 < summary.chrf < 100


def test_parts_by_length_level_and_origin():
    pytest.importorskip("sacrebleu")
    parts = dict(grouped(ITEMS))
    assert (
        parts["1 word"].n == 1
        and parts["2-4 words"].n == 3
        and parts["5-7 words"].n == 1
        and "8-15 words" not in parts
    )
    assert parts["asked in formal"].n == 2 and parts["asked in formal"].exact == (2, 2)
    assert parts["a"].n == 2 and parts["b"].n == 3
    assert "a" not in dict(grouped(ITEMS[:2]))


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("그녀는 책을 책을 읽었습니다.", True),
        ("저는 밥을 저는 밥을 먹어요.", True),
        ("점점 더 점점 더 멀리", True),
        ("책을 읽고 책을 썼어요.", False),
        ("", False),
        ("네.", False),
    ],
)
def test_a_phrase_twice_in_a_row(text, wanted):
    assert repeats(text) is wanted


def test_careless_typing_keeps_the_korean_and_the_places():
    pairs = [
        Pair("He didn't see our beautiful garden.", "가.", "formal"),
        Pair("Run!", "나.", "formal"),
        Pair("ok", "다.", "polite"),
    ]
    found = {kind: (places, others) for kind, places, others in disturbed(pairs)}
    assert found["capitals"][0] == [0, 1, 2]
    assert found["capitals"][1][1] == Pair("RUN!", "나.", "formal")
    assert found["no final mark"][0] == [0, 1] and found["curly quotes"][0] == [0]
    assert found["the other contraction"][1][0].src == "He did not see our beautiful garden."
    assert found["two sentences"] == (
        [0],
        [Pair("He didn't see our beautiful garden. Run!", "가. 나.", "formal")],
    )
    typo = found["a letter wrong"][1][0].src
    assert typo != pairs[0].src and abs(len(typo) - len(pairs[0].src)) <= 1
    assert list(disturbed(pairs)) == list(disturbed(pairs))
