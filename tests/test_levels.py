import pytest

from translator.levels import LEVELS, agrees, line_level, speech_level


@pytest.mark.parametrize(
    ("korean", "level"),
    [
        ("저는 학생입니다.", "formal"),
        ("어디에 가십니까?", "formal"),
        ("문을 닫아 주십시오", "formal"),
        ("같이 갑시다!", "formal"),
        ("저는 학생이에요.", "polite"),
        ("그렇죠?", "polite"),
        ("비가 오네요", "polite"),
        ("나는 학생이야.", "casual"),
        ("뭐 먹었어?", "casual"),
        ("이제 그만해", "casual"),
        ("나는 학생이다.", "plain"),
        ("비가 온다.", "plain"),
        ("그것은 내 것이 아니다.", "plain"),
        ("그것은 제 것이 아닙니다.", "formal"),
        ("조금 쉽시다.", "formal"),
        ('그는 "갑니다"라고 말했다.', "plain"),
        ("“네, 알겠습니다.”", "formal"),
        ("네.", "any"),
        ("화장실", "any"),
        ("", "any"),
    ],
)
def test_the_ending_shows_the_level(korean, level):
    assert speech_level(korean) == level


@pytest.mark.parametrize(
    ("korean", "level"),
    [
        ("바다", "any"),
        ("가게", "any"),
        ("필요", "any"),
        ("갑니다", "formal"),
        ("간다.", "plain"),
        ("비가 온다", "plain"),
        ("가요!", "polite"),
    ],
)
def test_an_entry_of_a_word_list_shows_none(korean, level):
    assert line_level(korean) == level


def test_the_four_levels_and_none():
    assert LEVELS == ("formal", "polite", "casual", "plain", "any")


@pytest.mark.parametrize(
    "korean, level, wanted",
    [
        ("갑니다.", "formal", True),
        ("가요.", "formal", False),
        ("가자.", "casual", True),
        ("가자.", "plain", True),
        ("어디 가니?", "casual", True),
        ("간다.", "casual", False),
        ("갔어.", "plain", False),
        ("네.", "polite", None),
        ("가요.", "any", None),
    ],
)
def test_whether_an_ending_fits(korean, level, wanted):
    assert agrees(korean, level) is wanted
