import pytest

from translator.hangul import (
    attach,
    final_sound,
    has_hangul,
    particle,
    without_final,
)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("학생", "학생은 학생이 학생을 학생과 학생으로 학생이에요"),
        ("의사", "의사는 의사가 의사를 의사와 의사로 의사예요"),
        ("서울", "서울은 서울이 서울을 서울과 서울로 서울이에요"),
        ("3", "3은 3이 3을 3과 3으로 3이에요"),
        ("10", "10은 10이 10을 10과 10으로 10이에요"),
        ("2,000", "2,000은 2,000이 2,000을 2,000과 2,000으로 2,000이에요"),
        ("7", "7은 7이 7을 7과 7로 7이에요"),
        ("Kim", "Kim은 Kim이 Kim을 Kim과 Kim으로 Kim이에요"),
        ("Mia", "Mia는 Mia가 Mia를 Mia와 Mia로 Mia예요"),
        ("Tom", "Tom은 Tom이 Tom을 Tom과 Tom으로 Tom이에요"),
        ("Paul", "Paul은 Paul이 Paul을 Paul과 Paul로 Paul이에요"),
        ("a@b.net", "a@b.net은 a@b.net이 a@b.net을 a@b.net과 a@b.net으로 a@b.net이에요"),
        ("c.kr", "c.kr은 c.kr이 c.kr을 c.kr과 c.kr로 c.kr이에요"),
    ],
)
def test_particles_follow_the_last_sound(word, expected):
    names = ("은", "이", "을", "과", "으로", "이에요")
    assert " ".join(attach(word, name) for name in names) == expected


@pytest.mark.parametrize(
    ("word", "name", "expected"),
    [
        ("저", "이", "제가"),
        ("나", "이", "내가"),
        ("누구", "이", "누가"),
        ("바나나", "이", "바나나가"),
        ("어제 나", "이", "어제 내가"),
        ("저", "은", "저는"),
        ('그는 "책"', "이라고", '그는 "책"이라고'),
        ("의사", "이십니까", "의사십니까"),
    ],
)
def test_attached(word, name, expected):
    assert attach(word, name) == expected


def test_a_final_consonant_can_be_taken_off():
    assert without_final("알") == "아" and without_final("이를") == "이르"
    assert without_final("의사") == "의사"


def test_marks_after_a_word_have_no_sound():
    assert final_sound("책)") == final_sound("책") == "ㄱ"
    assert final_sound("...") == "."
    assert particle("ㅋㅋ", "은") == "은"


def test_hangul_is_syllables_and_letters_by_themselves():
    assert has_hangul("a가") and has_hangul("ㄱa") and has_hangul("ㅋㅋ") and has_hangul("ㆎ")
    assert not has_hangul("I am 1 漢 ア") and not has_hangul("")
