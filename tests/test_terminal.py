from translator.terminal import padded, printable, width


def test_wide_letters_take_two_columns():
    assert width("저는 a") == 6
    assert width("e\u0301") == 1
    assert padded("저", 4) == "저  "
    assert printable("a\x1b\u202eb") == "a??b"
