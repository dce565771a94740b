import json

from translator.terminal import json_text, padded, printable, width


def test_wide_letters_take_two_columns():
    assert width("저는 a") == 6
    assert width("e\u0301") == 1
    assert padded("저", 4) == "저  "
    assert printable("a\x1b\u202eb") == "a??b"


def test_json_commands_no_terminal():
    text = json_text({"가": "\x9b31m\x7f\x1b", "n": [1]})
    assert text == '{"가": "\\u009b31m\\u007f\\u001b", "n": [1]}'
    assert json.loads(text) == {"가": "\x9b31m\x7f\x1b", "n": [1]}
