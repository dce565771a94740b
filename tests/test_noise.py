import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator import noise
from translator.noise import noisy, with_noisy_copies
from translator.pairs import Pair

RNG = random.Random(0)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (noise._drop_final_mark, "Where is it?", "Where is it"),
        (noise._drop_final_mark, "Isn't it late?", "Isn't it late"),
        (noise._drop_final_mark, "Any updates?", "Any updates?"),
        (noise._capitals, "Where is it?", "WHERE IS IT?"),
        (noise._curly_quotes, 'He\'s "here" now.', "He’s “here” now."),
        (noise._other_contraction, "I am not late.", "I'm not late."),
        (noise._other_contraction, "They don't know.", "They do not know."),
        (noise._other_contraction, "Tom's car is red.", "Tom's car is red."),
        (noise._other_contraction, "Yes, I am.", "Yes, I am."),
        (noise._other_contraction, "Why don't you go?", "Why don't you go?"),
        (noise._other_contraction, "It's late, isn't it?", "It's late, isn't it?"),
        (noise._other_contraction, "I don't.", "I don't."),
        (noise._other_contraction, "I wonder where he is now.", "I wonder where he is now."),
    ],
)
def test_each_kind(kind, text, expected):
    assert kind(text, RNG) == expected


def test_lower_case_with_and_without_the_mark():
    found = {noise._lower_case("I Am Here.", random.Random(seed)) for seed in range(20)}
    assert found == {"i am here.", "i am here"}


def test_a_typo_changes_one_word_a_little():
    for seed in range(50):
        found = noise._typo("I see a beautiful cat.", random.Random(seed))
        assert found.startswith("I see a b") and found.endswith(" cat.")
        assert abs(len(found) - len("I see a beautiful cat.")) <= 1
    assert noise._typo("I am.", RNG) == "I am."


@given(st.text(min_size=1), st.integers())
def test_noise_never_leaves_nothing(text, seed):
    assert noisy(text, random.Random(seed))


def test_copies_keep_the_korean_and_follow_the_seed():
    pairs = [Pair(f"This is sentence {i}.", f"문장 {i}입니다.", "formal") for i in range(400)]
    found = list(with_noisy_copies(pairs, 0.25, "1"))
    assert [pair for pair in found if pair in set(pairs)] == pairs
    copies = [pair for pair in found if pair not in set(pairs)]
    assert 50 < len(copies) < 125
    by_target = {pair.tgt: pair for pair in pairs}
    assert all(copy.src != by_target[copy.tgt].src and copy.level == "formal" for copy in copies)
    assert found == list(with_noisy_copies(iter(pairs), 0.25, "1"))
    assert found != list(with_noisy_copies(pairs, 0.25, "2"))
    assert list(with_noisy_copies(pairs, 0.0, "1")) == pairs
