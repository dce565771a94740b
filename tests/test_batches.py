import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tokenizer import TOKENIZER

from translator.batches import EncodedPair, TokenBatchSampler, TokenStore, collate, encode_pairs
from translator.pairs import Pair, Report
from translator.tokenizer import BOS_ID, EOS_ID, PAD_ID


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
    assert report.dropped == {"longer than model.max_len = 6 tokens": 1}
    assert "pair 3, 7 tokens" in report.lines()[0]


@pytest.mark.fault("B17")
def test_a_pair_above_the_batch_budget_is_dropped_and_counted():
    encoded, report = encode([Pair(words(30), "네", "any"), Pair("7", "네", "any")], max_tokens=20)
    assert len(encoded) == 1
    assert report.dropped == {"longer than train.max_tokens = 20 tokens": 1}


def test_the_store_gives_back_what_was_put_in(tmp_path):
    pairs = [EncodedPair([4, 5, 3], [6, 3]), EncodedPair([7, 3], [8, 9, 10, 3])]
    store = TokenStore.build(tmp_path, iter(pairs))
    assert len(store) == 2
    assert [store[0], store[1]] == pairs
    assert store.lengths() == [3, 4]
    assert [TokenStore(tmp_path)[1], store[0]] == [pairs[1], pairs[0]]


def test_an_empty_store_and_building_over_an_open_one(tmp_path):
    store = TokenStore.build(tmp_path, [EncodedPair([4, 3], [6, 3])])
    empty = TokenStore.build(tmp_path, [])
    assert len(empty) == 0 and empty.lengths() == []
    assert store[0] == EncodedPair([4, 3], [6, 3]), "whoever had it open keeps it"


@settings(max_examples=60)
@given(st.lists(st.integers(1, 40), max_size=120), st.integers(40, 200), st.integers(1, 50))
def test_every_pair_once_and_never_over_budget(lengths, max_tokens, pool):
    sampler = TokenBatchSampler(lengths, max_tokens, seed=1, pool=pool)
    for epoch in (0, 1):
        batches = sampler.batches(epoch)
        assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
        assert all(len(b) * max(lengths[i] for i in b) <= max_tokens for b in batches)


def test_batches_are_a_function_of_seed_and_epoch():
    lengths = [3, 9, 4, 8, 5, 7, 6, 3, 4, 5] * 3
    sampler = TokenBatchSampler(lengths, 40, seed=1)
    assert sampler.batches(0) == TokenBatchSampler(lengths, 40, seed=1).batches(0)
    assert sampler.batches(0) != sampler.batches(1)
    assert sampler.batches(0) != TokenBatchSampler(lengths, 40, seed=2).batches(0)


@pytest.mark.fault("B16")
def test_fewer_pairs_than_a_batch_make_one_batch():
    assert sorted(TokenBatchSampler([3, 3, 4], 4096, seed=0).batches(0)[0]) == [0, 1, 2]


def test_similar_lengths_share_a_batch():
    lengths = list(range(1, 101))
    batches = TokenBatchSampler(lengths, 400, seed=0).batches(0)
    padding = sum(len(b) * max(lengths[i] for i in b) - sum(lengths[i] for i in b) for b in batches)
    assert padding / sum(lengths) < 0.1


@pytest.mark.fault("B34")
def test_input_and_labels_are_shifted_by_one_in_every_row():
    rows = [EncodedPair([4, EOS_ID], ids) for ids in ([11, EOS_ID], [11, 12, 13, EOS_ID])]
    rows.append(EncodedPair([4, 5, 6, EOS_ID], [11, 12, 13, 14, 15, EOS_ID]))
    batch = collate(rows)
    assert batch.src.tolist() == [[4, 3, 0, 0], [4, 3, 0, 0], [4, 5, 6, 3]]
    assert batch.tgt_in.tolist() == [
        [BOS_ID, 11, 0, 0, 0, 0],
        [BOS_ID, 11, 12, 13, 0, 0],
        [BOS_ID, 11, 12, 13, 14, 15],
    ]
    assert batch.tgt_out.tolist() == [
        [11, EOS_ID, 0, 0, 0, 0],
        [11, 12, 13, EOS_ID, 0, 0],
        [11, 12, 13, 14, 15, EOS_ID],
    ]
    assert batch.real.sum(1).tolist() == [2, 4, 6]
    assert batch.n_tokens == 12
    assert batch.padding == pytest.approx(1 - (8 + 12) / (12 + 18))


@pytest.mark.fault("B33")
def test_real_labels_are_known_by_length_not_by_value():
    batch = collate([EncodedPair([4, 3], [PAD_ID, 9, EOS_ID]), EncodedPair([4, 3], [9, EOS_ID])])
    assert batch.real.tolist() == [[True, True, True], [True, True, False]]
    assert batch.tgt_out.dtype == torch.int64
