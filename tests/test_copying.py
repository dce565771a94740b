from pathlib import Path

import pytest

from translator.copying import items, lost
from translator.pairs import Report, read_pairs

PROBE = "Call +00 000 0000 or see https://example.org/a?b=1, €30, 19:30"


@pytest.mark.fault("B84")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PROBE, ["00", "000", "0000", "https://example.org/a?b=1", "30", "19:30"]),
        ("Write to kim.lee+a@mail.example.co.kr.", ["kim.lee+a@mail.example.co.kr"]),
        ("See www.example.org/x) now.", ["www.example.org/x"]),
        ("See Shop.example.co.kr/a, please.", ["Shop.example.co.kr/a"]),
        ("We went home.Come in.", []),
        ("It costs 1,234,567 won, or 3.50.", ["1,234,567", "3.50"]),
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
    assert lost("1,000 and 1,000", "1000과") == ["1,000"]
    assert lost("nothing", "12") == []


@pytest.mark.fault("B84")
@pytest.mark.parametrize(
    ("english", "korean", "expected"),
    [
        ("My train leaves at 7:40.", "제 기차는 7시 40분에 떠나요.", []),
        ("We met at 07:05.", "우리는 7시 5분에 만났어요.", []),
        ("Come at 7:30.", "7시 반에 오세요.", []),
        ("Come at 10:00.", "10시에 오세요.", []),
        ("Come at 7:40.", "7시 4분에 오세요.", ["7:40"]),
        ("Come at 7:40.", "8시 40분에 오세요.", ["7:40"]),
        ("It takes 30 minutes from 3.", "3시 30분부터예요.", []),
        ("See https://example.org for more.", "https://example.org에서 보세요.", []),
        ("Open www.example.org/a.", "www.example.org/a를 여세요.", []),
        ("Open www.example.org/a.", "www.example.org/b를 여세요.", ["www.example.org/a"]),
    ],
)
def test_a_time_may_be_written_in_words_and_a_particle_may_follow(english, korean, expected):
    assert lost(english, korean) == expected


def test_no_reference_of_the_corpus_loses_anything():
    """What people wrote by hand is right, so a warning about it would be wrong."""
    paths = sorted((Path(__file__).parents[1] / "data").glob("h*/*.tsv"))
    pairs = [pair for path in paths for pair in read_pairs([str(path)], Report())]
    found = [pair for pair in pairs if lost(pair.src, pair.tgt)]
    assert len(pairs) > 80_000
    assert [(pair.src, pair.tgt) for pair in found] == []


def test_a_long_word_is_read_once():
    """Each letter could begin a mail address; tried from every one, this would take hours."""
    assert items("a" * 1_000_000) == []
    assert items(f"{'a' * 1_000_000}@b") == []
    assert items("<me.too+x@b-c.org>, (you@d.com)") == ["me.too+x@b-c.org", "you@d.com"]
