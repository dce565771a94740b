import random

from test_tokenizer import LINES, TOKENIZER

from translator.resplit import Resplitter, possible_splits
from translator.store import EncodedPair
from translator.tokenizer import EOS_ID

SPLITS = possible_splits(TOKENIZER)


def encoded(line: str) -> EncodedPair:
    return EncodedPair(TOKENIZER.encode_source(line, "formal"), TOKENIZER.encode_target(line))


def test_every_split_spells_the_same_text():
    assert len(SPLITS) > 10
    for index, ways in SPLITS.items():
        [piece] = TOKENIZER.pieces([index])
        assert all("".join(TOKENIZER.pieces(way)) == piece for way in ways)


def test_the_text_stays_and_the_spelling_changes():
    resplitter = Resplitter(SPLITS, 0.5)
    changed = 0
    for line in LINES[:60]:
        pair = encoded(line)
        found = resplitter.pair(pair, random.Random(line), 1000)
        for before, after in zip(pair, found, strict=True):
            assert TOKENIZER.decode(after) == TOKENIZER.decode(before)
        assert found.src[0] == pair.src[0] and found.src[-1] == found.tgt[-1] == EOS_ID
        again = resplitter.pair(pair, random.Random(line), 1000)
        assert found == again, "the same for the same seed"
        changed += found != pair
    assert changed > 12


def test_the_share_is_that_of_the_pieces_that_can_be_split():
    ids = [index for index in SPLITS for _ in range(200)]
    spelled = Resplitter({i: ways[:1] for i, ways in SPLITS.items()}, 0.1).pair(
        EncodedPair(ids, [EOS_ID]), random.Random(0), 10**6
    )
    # halves may be split again, so a little more than a tenth
    assert 1.09 < len(spelled.src) / len(ids) < 1.25


def test_nothing_grows_beyond_the_model():
    pair = encoded(LINES[0])
    longest = max(len(pair.src), len(pair.tgt))
    for seed in range(30):
        found = Resplitter(SPLITS, 0.9).pair(pair, random.Random(seed), longest)
        assert max(map(len, found)) <= longest


def test_a_share_of_nothing_changes_nothing():
    pair = encoded(LINES[0])
    assert Resplitter(SPLITS, 0.0).pair(pair, random.Random(0), 1000) == pair
