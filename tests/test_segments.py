import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator.segments import split_clauses, split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["I am here.", "Where are you?", "Come!"],
        ["Mr. Kim met Dr. Lee at 3 p.m. on Mt. Seorak.", "It rained."],
        ["J. F. Kennedy was there."],
        ["It costs 3.50 dollars.", "5 are left."],
        ["Wait...", "What?!", "No way…", "OK."],
        ['He said "Go."', "Then he left.", '"Why?"', "(Nobody knew.)", "I did."],
        ["So do I.", "You too."],
        ["one. two. three"],
        ["Visit www.example.com today.", "Or write to a.b@example.com."],
        ["No.", "I said no."],
        ["Hello"],
    ],
)
def test_sentences(sentences):
    assert split_sentences(" ".join(sentences)) == sentences


def test_blank_is_nothing():
    assert split_sentences("") == split_sentences("  \t ") == []


@given(st.text(alphabet="aA. !?\"')1\t…", max_size=60))
def test_nothing_is_lost_but_spaces(text):
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("unit", [".", "a", ". A", '."', " "])
def test_long_lines_take_no_long_time(unit):
    """Quadratic time would take minutes here."""
    text = unit * 50_000
    split_sentences(text)
    split_clauses(text[:5000], lambda part: len(part) < 50)


def at_most(n):
    return lambda text: len(text.split()) <= n


def test_a_long_sentence_is_split_at_the_best_marks():
    text = "I came early; she came late, as always, and we waited for an hour"
    assert split_clauses(text, at_most(20)) == [text]
    assert split_clauses(text, at_most(11)) == [
        "I came early;",
        "she came late, as always, and we waited for an hour",
    ]
    assert split_clauses(text, at_most(8)) == [
        "I came early;",
        "she came late, as always,",
        "and we waited for an hour",
    ]
    assert split_clauses("I came – she left – and, as always, we waited", at_most(6)) == [
        "I came – she left",
        "– and, as always, we waited",
    ]
    assert split_clauses("a b c d e", at_most(2)) == ["a b", "c d", "e"]
    assert split_clauses("a" * 100, lambda part: len(part) < 10) == ["a" * 100]


@given(st.text(alphabet="ab,;:— ", max_size=80), st.integers(1, 6))
def test_the_parts_are_the_sentence_and_fit(text, n):
    parts = split_clauses(text, at_most(n))
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(len(part.split()) <= n for part in parts)
