"""Capitals and curly quotes become what the vocabulary was learned from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator.noise import KINDS
from translator.typed import tidy


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("I’M LATE.", "I'm late."),
        ("WHERE IS THE TV?", "Where is the TV?"),
        ("I LOVE YOU. DO YOU?", "I love you. Do you?"),
        ("“NO,” HE SAID.", '"No," he said.'),
        ("HELP!", "Help!"),
        ("<1> IS BROKEN", "<1> is broken"),
        ("TV", "TV"),
        ("KTX?", "KTX?"),
        ("A", "A"),
        ("I", "I"),
        ("Tom went to the USA.", "Tom went to the USA."),
        ("“Hi,” he said.", '"Hi," he said.'),
        ("010-1234-5678", "010-1234-5678"),
        ("저는 TV를 봅니다", "저는 TV를 봅니다"),
        ("", ""),
    ],
)
def test_as_the_corpus_writes_it(typed, expected):
    assert tidy(typed) == expected


@given(st.text())
def test_once_is_enough(text):
    assert tidy(tidy(text)) == tidy(text)


@given(st.from_regex(r"[A-Z][a-z]{3,8} [a-z]{2,8}[.?!]", fullmatch=True))
def test_a_shouted_sentence_is_the_sentence(text):
    assert tidy(text.upper()) == text


def test_what_it_takes_back_is_not_drawn_as_noise():
    undone = {kind.name for kind in KINDS if kind.weight == 0}
    assert undone == {"capitals", "curly quotes"}
    for kind in KINDS:
        if kind.name in undone:
            assert tidy(kind.apply('He said, "Where are you?"', None)) == (
                'He said, "where are you?"'
                if kind.name == "capitals"
                else 'He said, "Where are you?"'
            )
