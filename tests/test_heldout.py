import pytest

from translator.heldout import HeldOut, near_duplicate_key
from translator.pairs import Pair

PAIRS = [
    Pair(f"Sentence {word}.", "문장", level)
    for word in "abcdefgh"
    for level in ("formal", "polite")
]


def split(pairs, size, seed):
    """-> (train, dev)"""
    held_out = HeldOut(size, seed)
    for pair in pairs:
        held_out.offer(pair)
    return [pair for pair in pairs if pair.src not in held_out], held_out.pairs()


def test_held_out_sentences_take_all_their_translations_along():
    train, dev = split(PAIRS, 3, seed=0)
    assert len(dev) == 6 and len(train) == 10
    assert not {pair.src for pair in train} & {pair.src for pair in dev}
    assert sorted(train + dev) == sorted(PAIRS)


def test_the_split_depends_on_the_seed_but_not_on_the_order():
    dev = set(split(PAIRS, 3, seed=0)[1])
    assert set(split(PAIRS[::-1], 3, seed=0)[1]) == dev
    assert any(set(split(PAIRS, 3, seed)[1]) != dev for seed in range(1, 5))


def test_every_sentence_has_the_same_chance_to_be_held_out():
    pairs = [
        Pair(f"word{i} {chr(97 + i % 26)}{chr(97 + i // 26)}", "말", "any") for i in range(300)
    ]
    dev = split(pairs, 100, seed=3)[1]
    assert len(dev) == 100
    thirds = [sum(pair in set(pairs[n : n + 100]) for pair in dev) for n in (0, 100, 200)]
    assert min(thirds) > 15, "not only the first, not only the last"


def test_near_duplicates_stay_on_one_side():
    assert near_duplicate_key("It's 5 o'clock!") == near_duplicate_key("its 17 oclock")
    assert near_duplicate_key("  It’s  5,  O’CLOCK") == near_duplicate_key("its 17 oclock")
    assert near_duplicate_key("I am here") != near_duplicate_key("I am there")
    pairs = [Pair("I'm 5.", "가", "any"), Pair("im 6", "나", "any"), Pair("You?", "다", "any")]
    for seed in range(5):
        train, dev = split(pairs, 1, seed)
        assert sorted([len(train), len(dev)]) == [1, 2]


@pytest.mark.parametrize(("size", "left_over"), [(0, True), (7, True), (8, False), (99, False)])
def test_whether_anything_is_left(size, left_over):
    held_out = HeldOut(size, seed=0)
    for pair in PAIRS:
        held_out.offer(pair)
    assert held_out.left_over == left_over


def test_what_is_no_near_duplicate():
    """Two numbers, two words: said in the docstring, and what chose the shipped model's dev set."""
    assert near_duplicate_key("It costs 500 won.") != near_duplicate_key("It costs 1,000 won.")
    assert near_duplicate_key("Send an e-mail.") != near_duplicate_key("Send an email.")
