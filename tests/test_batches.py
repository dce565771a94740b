from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from translator.batches import TokenBatchSampler, collate
from translator.store import EncodedPair
from translator.tokenizer import BOS_ID, EOS_ID, PAD_ID


def sampler(lengths, max_tokens, seed=1, **options):
    """Over pairs whose two sides are equally long, in one part unless `sizes` says otherwise."""
    sizes = options.pop("sizes", [len(lengths)])
    both = [(length, length) for length in lengths]
    return TokenBatchSampler(
        lambda indices: [both[i] for i in indices], sizes, max_tokens, seed, **options
    )


@settings(max_examples=60)
@given(st.lists(st.integers(1, 40), max_size=120), st.integers(40, 200), st.integers(1, 50))
def test_every_pair_once_and_never_over_budget(lengths, max_tokens, pool):
    found = sampler(lengths, max_tokens, pool=pool)
    for epoch in (0, 1):
        batches = list(found.batches(epoch))
        assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
        assert all(len(b) * max(lengths[i] for i in b) <= max_tokens for b in batches)


def test_batches_are_a_function_of_seed_and_epoch():
    lengths = [3, 9, 4, 8, 5, 7, 6, 3, 4, 5] * 3
    first = list(sampler(lengths, 40).batches(0))
    assert first == list(sampler(lengths, 40).batches(0))
    assert first != list(sampler(lengths, 40).batches(1))
    assert first != list(sampler(lengths, 40, seed=2).batches(0))


@pytest.mark.fault("B16")
def test_fewer_pairs_than_a_batch_make_one_batch():
    assert sorted(next(sampler([3, 3, 4], 4096).batches(0))) == [0, 1, 2]


def test_similar_lengths_share_a_batch():
    lengths = list(range(1, 101))
    batches = list(sampler(lengths, 400).batches(0))
    padding = sum(len(b) * max(lengths[i] for i in b) - sum(lengths[i] for i in b) for b in batches)
    assert padding / sum(lengths) < 0.1


def test_a_pair_may_fill_a_batch_alone():
    assert sorted(sampler([8, 3, 8], 8).batches(0)) == [[0], [1], [2]]


def test_batches_do_not_come_by_length():
    """Or the longest sentences would be learned last in every epoch."""
    lengths = list(range(1, 101))
    longest = [max(lengths[i] for i in batch) for batch in sampler(lengths, 400).batches(0)]
    assert len(longest) > 10
    assert longest != sorted(longest)


def test_pairs_from_all_over_the_corpus_meet_in_a_pool():
    """A hundred pairs in pools of ten, each of which is one batch."""
    batches = list(sampler([5] * 100, 50, pool=10).batches(0))
    assert [len(batch) for batch in batches] == [10] * 10
    assert max(max(batch) - min(batch) for batch in batches) > 50


def seen(found, epoch):
    return Counter(i for batch in found.batches(epoch) for i in batch)


def test_a_weight_says_how_often_an_epoch_sees_a_pair():
    """Three parts of 40 pairs: twice, every second one, and two and a half times."""
    found = sampler([5] * 120, 50, sizes=[40, 40, 40], weights=[2, 0.5, 2.5])
    counts = seen(found, 0)
    assert [counts[i] for i in range(40)] == [2] * 40
    assert sorted(counts[i] for i in range(40, 80)) == [0] * 20 + [1] * 20
    assert sorted(counts[i] for i in range(80, 120)) == [2] * 20 + [3] * 20
    halves = [{i for i in range(40, 80) if seen(found, epoch)[i]} for epoch in range(4)]
    assert len({frozenset(half) for half in halves}) == 4, "another half in each epoch"
    assert seen(found, 0) == counts


def test_an_empty_part_takes_no_place():
    found = sampler([5] * 6, 50, sizes=[2, 0, 4], weights=[1, 9, 1])
    assert seen(found, 0) == Counter(range(6))


def test_pairs_of_equal_length_are_sorted_by_the_other_side():
    """In turns up and down, so that no batch joins a long source with a long target."""
    lengths = [(9, 2), (2, 9), (9, 3), (3, 9), (10, 2), (2, 10), (10, 3), (3, 10)]
    found = TokenBatchSampler(lambda ix: [lengths[i] for i in ix], [8], 20, seed=0)
    batches = {frozenset(lengths[i] for i in batch) for batch in found.batches(0)}
    assert batches == {
        frozenset({(9, 2), (9, 3)}),
        frozenset({(3, 9), (2, 9)}),
        frozenset({(2, 10), (3, 10)}),
        frozenset({(10, 3), (10, 2)}),
    }


def test_neighbours_across_two_lengths_are_alike():
    """The batch over the border has two short sources, not one short source and one long one."""
    lengths = [(9, 2), (2, 9), (3, 9), (10, 2), (3, 10), (2, 10)]
    found = TokenBatchSampler(lambda ix: [lengths[i] for i in ix], [6], 20, seed=0)
    batches = {frozenset(lengths[i] for i in batch) for batch in found.batches(0)}
    assert frozenset({(2, 9), (2, 10)}) in batches


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
