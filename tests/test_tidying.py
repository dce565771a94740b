"""Capitals and curly quotes become what the vocabulary was learned from."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator.noise import WAYS
from translator.tidying import tidy

WORDS = "where is the bathroom please tell me about your holiday they were late again".split()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("I’M LATE.", "I'm late."),
        ("I DO.", "I do."),
        ("YES!", "Yes!"),
        ("HELP!", "Help!"),
        ("WHERE IS THE TV?", "Where is the TV?"),
        ("THE TV'S BROKEN.", "The TV's broken."),
        ("I LOVE YOU. DO YOU?", "I love you. Do you?"),
        ("A TWELVE-YEAR-OLD BOY", "A twelve-year-old boy"),
        ("“NO,” HE SAID.", '"No," he said.'),
        ('HE SAID, "WHERE ARE YOU?"', 'He said, "Where are you?"'),
        ('HE SAID "GO." THEN HE LEFT.', 'He said "go." Then he left.'),
        ("SEE YOU ON MONDAY IN SEOUL!", "See you on Monday in Seoul!"),
        ("THE U.S. ARMY IS HERE", "The U.S. army is here"),
        ("GATE B2 IS CLOSED.", "Gate B2 is closed."),
        ("HTTPS://EXAMPLE.ORG/A?B=1 IS DOWN", "HTTPS://EXAMPLE.ORG/A?B=1 is down"),
        ("WRITE TO KIM@EXAMPLE.ORG!", "Write to KIM@EXAMPLE.ORG!"),
        ("<1> IS BROKEN", "<1> is broken"),
        ("don´t", "don't"),
        ("TV", "TV"),
        ("KTX?", "KTX?"),
        ("A", "A"),
        ("A B C", "A B C"),
        ("I", "I"),
        ("I LOVE you.", "I LOVE you."),
        ("Tom went to the USA.", "Tom went to the USA."),
        ("“Hi,” he said.", '"Hi," he said.'),
        ("010-1234-5678", "010-1234-5678"),
        ("나는 TV를 봅니다 BTS LOVE", "나는 TV를 봅니다 BTS LOVE"),
        ("", ""),
    ],
)
def test_as_the_corpus_writes_it(typed, expected):
    assert tidy(typed) == expected


@given(st.text("AIMTVOKbé .'?!’“<1>2@-"))
def test_once_is_enough_and_nothing_but_case_and_quotes_changes(text):
    assert tidy(tidy(text)) == tidy(text)
    straight = text.replace("’", "'").replace("“", '"')
    assert tidy(text).upper() == straight.upper()


@given(
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=8), st.sampled_from([".", "?", "!", ""])
)
def test_a_shouted_sentence_is_the_sentence(words, mark):
    sentence = " ".join(words).capitalize() + mark
    assert tidy(sentence.upper()) == sentence


def test_what_it_takes_back_is_not_drawn_as_noise():
    assert {kind.name for kind in WAYS if kind.weight == 0} == {"capitals", "curly quotes"}
    for kind in WAYS:
        if kind.weight == 0:
            typed = kind.apply('He said, "Where are you?"', random.Random(0))
            assert typed != 'He said, "Where are you?"' == tidy(typed)
