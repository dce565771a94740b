import pytest

from translator.copying import items, lost

PROBE = "Call +00 000 0000 or see https://example.org/a?b=1, €30, 19:30"


@pytest.mark.fault("B84")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PROBE, ["00", "000", "0000", "https://example.org/a?b=1", "30", "19:30"]),
        ("Write to kim.lee+a@mail.example.co.kr.", ["kim.lee+a@mail.example.co.kr"]),
        ("See www.example.org/x) now.", ["www.example.org/x"]),
        ("It costs 1,234,567 won, or 3.50.", ["1234567", "3.50"]),
        ("In 2024-05-17, room B12.", ["2024-05-17", "12"]),
        ("I have 2 dogs and 1 cat.", []),
        ("", []),
        ("No item here, only words: and... marks!", []),
    ],
)
def test_what_has_to_stay(text, expected):
    assert items(text) == expected


@pytest.mark.fault("B84")
def test_what_was_lost():
    korean = "+00 000 0000으로 전화하거나 https://example.org/a?b=1 을 보세요, 30유로, 19:30"
    assert lost(PROBE, korean) == []
    assert lost(PROBE, korean.replace("19:30", "19:03")) == ["19:30"]
    assert lost(PROBE, korean.replace("a?b=1", "a?b=2")) == ["https://example.org/a?b=1"]
    assert lost("1,000 and 1,000", "1000과") == ["1000"]
    assert lost("nothing", "12") == []
