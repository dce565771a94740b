import pytest

from translator.corpus.numerals import native_numeral, sino_numeral


@pytest.mark.parametrize(
    ("n", "native", "sino"),
    [
        (1, "한", "일"),
        (2, "두", "이"),
        (11, "열한", "십일"),
        (20, "스무", "이십"),
        (21, "스물한", "이십일"),
        (35, "서른다섯", "삼십오"),
        (99, "아흔아홉", "구십구"),
    ],
)
def test_numerals(n, native, sino):
    assert native_numeral(n) == native
    assert sino_numeral(n) == sino


@pytest.mark.parametrize(
    ("n", "sino"),
    [
        (0, "영"),
        (100, "백"),
        (305, "삼백오"),
        (1000, "천"),
        (10_000, "만"),
        (12_000, "만 이천"),
        (120_000, "십이만"),
        (100_000_000, "일억"),
        (999_999_999_999, "구천구백구십구억 구천구백구십구만 구천구백구십구"),
    ],
)
def test_larger_numerals(n, sino):
    assert sino_numeral(n) == sino


@pytest.mark.parametrize("n", [0, 100])
def test_native_numerals_end_at_99(n):
    with pytest.raises(ValueError, match="from 1 to 99"):
        native_numeral(n)


@pytest.mark.parametrize("n", [-1, 10**12])
def test_sino_numerals_end_below_ten_to_the_twelfth(n):
    with pytest.raises(ValueError, match="from 0 to 10"):
        sino_numeral(n)
