import pytest
from test_tokenizer import TOKENIZER

from translator.pairs import Pair, Report
from translator.store import EncodedPair, TokenStore, encode_pairs


def words(n: int) -> str:
    """A text of exactly n pieces: the mark of a word, then one piece for each digit."""
    text = "7" * (n - 1)
    assert len(TOKENIZER.encode(text)) == n
    return text


def encode(pairs, max_len=48, max_tokens=256):
    report = Report()
    return list(encode_pairs(pairs, TOKENIZER, max_len, max_tokens, report)), report


@pytest.mark.fault("B15")
def test_the_limit_counts_every_special_token():
    """S = pieces + tag + eos, so max_len 6 lets 4 source pieces through and 5 not."""
    pairs = [Pair(words(n), "네", "any") for n in (3, 4, 5)]
    encoded, report = encode(pairs, max_len=6)
    assert [len(pair.src) for pair in encoded] == [5, 6]
    assert report.kept == 2
    assert report.dropped == {"longer than model.max_len = 6 tokens": 1}
    assert f"(first: 7 tokens: {words(5)})" in report.lines()[0]


@pytest.mark.fault("B15")
def test_the_limit_counts_the_end_of_the_target():
    """T = pieces + eos, so max_len 6 lets 5 target pieces through and 6 not."""
    encoded, report = encode([Pair("7", words(n), "any") for n in (5, 6)], max_len=6)
    assert [len(pair.tgt) for pair in encoded] == [6]
    assert report.dropped == {"longer than model.max_len = 6 tokens": 1}


@pytest.mark.fault("B17")
def test_a_pair_above_the_batch_budget_is_dropped_and_counted():
    encoded, report = encode([Pair(words(30), "네", "any"), Pair("7", "네", "any")], max_tokens=20)
    assert len(encoded) == 1
    assert report.dropped == {"longer than train.max_tokens = 20 tokens": 1}


def test_the_store_gives_back_what_was_put_in(tmp_path):
    pairs = [EncodedPair([4, 5, 3], [6, 3]), EncodedPair([7, 3], [8, 9, 10, 3])]
    pairs.append(EncodedPair([11, 3], [12, 3]))  # of which nothing shows in the one before
    directory = tmp_path / "run" / "tokens"  # made on the way
    store = TokenStore.build(directory, iter(pairs))
    assert len(store) == 3
    assert [store[0], store[1], store[2]] == pairs
    assert store.lengths([1, 0]) == [(2, 4), (3, 2)]
    assert [store.n_tokens(*span) for span in ((0, 0), (0, 1), (1, 2), (0, 2))] == [0, 5, 6, 11]
    assert [TokenStore(directory)[1], store[0]] == [pairs[1], pairs[0]]


def test_an_empty_store_and_building_over_an_open_one(tmp_path):
    store = TokenStore.build(tmp_path, [EncodedPair([4, 3], [6, 3])])
    empty = TokenStore.build(tmp_path, [])
    assert len(empty) == 0
    assert store[0] == EncodedPair([4, 3], [6, 3]), "whoever had it open keeps it"


def test_the_fingerprint_follows_pairs_and_order(tmp_path):
    pairs = [EncodedPair([4, 3], [6, 3]), EncodedPair([5, 3], [7, 3])]
    prints = [
        TokenStore.build(tmp_path / str(n), found).fingerprint
        for n, found in enumerate((pairs, pairs, pairs[::-1], pairs[:1]))
    ]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3
    moved = [EncodedPair([4, 3, 6], [3]), EncodedPair([5, 3], [7, 3])]  # the same row of tokens
    assert TokenStore.build(tmp_path / "moved", moved).fingerprint != prints[0]
