import pytest
from conftest import PAIRS

from translator import vocabulary
from translator.config import TokenizerConfig
from translator.tokenizer import TokenizerError
from translator.vocabulary import _sample, train_tokenizer

LINES = [text for pair in PAIRS for text in pair[:2]]
TOKENIZER = train_tokenizer(LINES, TokenizerConfig())


@pytest.mark.fault("B20")
@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_the_vocabulary_size_is_a_ceiling(model_type):
    config = TokenizerConfig(vocab_size=8000, model_type=model_type)
    tokenizer = train_tokenizer(LINES[:20], config)
    assert 300 < tokenizer.vocab_size < 8000
    assert tokenizer.decode(tokenizer.encode("저는 학생입니다.")) == "저는 학생입니다."


@pytest.mark.fault("B21")
@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_a_ceiling_below_the_alphabet_names_the_least_that_works(model_type):
    many = [chr(0xAC00 + i) for i in range(500)]
    config = TokenizerConfig(vocab_size=300, model_type=model_type)
    with pytest.raises(TokenizerError, match=r"300 is too small .* need (\d+)") as caught:
        train_tokenizer(many, config)
    assert "character_coverage" in str(caught.value)
    least = int(str(caught.value).split("need ")[1].split(";")[0])
    train_tokenizer(many, TokenizerConfig(vocab_size=least, model_type=model_type))
    with pytest.raises(TokenizerError, match="5 is too small"):
        train_tokenizer(LINES, TokenizerConfig(vocab_size=5, model_type=model_type))


def test_training_twice_gives_the_same_vocabulary():
    assert train_tokenizer(LINES, TokenizerConfig()).fingerprint == TOKENIZER.fingerprint
    assert train_tokenizer(LINES[:10], TokenizerConfig()).fingerprint != TOKENIZER.fingerprint


@pytest.mark.parametrize("lines", [[], ["", "  "], ["가" * 6000]])
def test_nothing_usable_to_learn_from(lines):
    with pytest.raises(TokenizerError, match="no usable line to learn from"):
        train_tokenizer(lines, TokenizerConfig())


def test_of_many_lines_a_random_sample_teaches_the_vocabulary():
    few = [f"{'ab' * (i % 5 + 1)} {i}" for i in range(50)]
    config = TokenizerConfig(max_sentences=50)
    whole = train_tokenizer(few, TokenizerConfig())
    assert train_tokenizer(few, config).fingerprint == whole.fingerprint
    taken = train_tokenizer([*few * 20, *["zz"] * 3000], config)  # one line in four is not zz
    assert len(taken.encode("ababab")) < 4 and taken.fingerprint != whole.fingerprint
    again = train_tokenizer(iter([*few * 20, *["zz"] * 3000]), config)
    assert again.fingerprint == taken.fingerprint


def test_sampling_gives_every_line_the_same_chance():
    lines = [str(i) for i in range(1000)]
    chosen = [int(line) for line in _sample(lines, 200)]
    assert len(set(chosen)) == 200
    assert 400 < sum(chosen) / 200 < 600
    assert sum(i < 200 for i in chosen) < 80


def contracted_corpus() -> list[str]:
    """Sentences in which m stands in every I'm, and am in one of ten."""
    things = "hungry tired happy sad late early here there ready busy cold warm ill well".split()
    lines = [f"I'm {a} and {b}." for a in things for b in things]
    return (
        lines + [f"I am {a}." for a in things] + ["저는 못 가요.", "잘못 왔어요.", "못해요."] * 30
    )


def test_frequent_words_are_pieces():
    config = TokenizerConfig(vocab_size=430)
    tokenizer = train_tokenizer(contracted_corpus(), config)
    assert tokenizer.vocab_size <= 430
    assert tokenizer.pieces(tokenizer.encode("I am and 못")) == ["▁I", "▁am", "▁and", "▁못"]
    assert tokenizer.decode(tokenizer.encode("I'm ill and I am here.")) == "I'm ill and I am here."


def test_a_full_vocabulary_makes_room_for_the_most_frequent_words():
    """From the least that the characters need, one more piece is one more word."""
    corpus = contracted_corpus()
    least = vocabulary._least(corpus, TokenizerConfig())
    letters_only = train_tokenizer(corpus, TokenizerConfig(vocab_size=least))
    wanted = vocabulary._split_words(vocabulary._frequent_words(corpus), letters_only)
    assert letters_only.vocab_size == least and wanted[:3] == ["I", "and", "못"]
    for more in (1, 2, 5, 8):
        tokenizer = train_tokenizer(corpus, TokenizerConfig(vocab_size=least + more))
        assert tokenizer.vocab_size == least + more
        known = [word for word in wanted if f"▁{word}" in tokenizer.plain_pieces()]
        assert known == wanted[:more]


def test_digits_and_placeholders_are_pieces_by_themselves_in_both_kinds():
    lines = ["I was born in 2024 and 2025, <1>."] * 30
    found = {
        kind: train_tokenizer(lines, TokenizerConfig(model_type=kind))
        for kind in ("unigram", "bpe")
    }
    for tokenizer in found.values():
        assert tokenizer.pieces(tokenizer.encode("2024 <1>")) == ["▁", *"2024", "▁", "<1>"]
    assert found["unigram"].fingerprint != found["bpe"].fingerprint


@pytest.mark.parametrize("length", [62, 130])
def test_a_long_shout_does_no_harm(length):
    """Its piece would not fit into one byte of length."""
    lines = ["no" * length, *contracted_corpus()] * 12
    tokenizer = train_tokenizer(lines, TokenizerConfig(vocab_size=430))
    assert tokenizer.decode(tokenizer.encode("no" * length)) == "no" * length


def test_what_stands_there_a_few_times_gets_no_piece_of_its_own():
    words = vocabulary._frequent_words(["once", *["ten of them"] * 10, *["nine"] * 9])
    assert list(words) == ["ten", "of", "them"]
    assert vocabulary._frequent_words(["a"] * 10 + ["b"] * 300_000).keys() == {"b"}


def test_characters_that_are_left_out_leave_room():
    """A ceiling below the number of characters is no fault if coverage leaves some out."""
    rare = "".join(chr(0xAC00 + i) for i in range(300))
    lines = [*contracted_corpus() * 5, rare]
    config = TokenizerConfig(vocab_size=600, character_coverage=0.98)
    assert vocabulary._least(lines, config) > 600
    assert train_tokenizer(lines, config).vocab_size <= 600


def test_words_that_were_added_serve_as_pieces_of_longer_ones_too():
    plain = train_tokenizer(["abc abd abe bcd"] * 9, TokenizerConfig())
    more = vocabulary._with_words(plain, {"zzz": -1.0, "고래": -2.0})
    assert more.vocab_size == plain.vocab_size + 2
    assert more.pieces(more.encode("zzz zzza 고래는")) == [
        *("▁zzz", "▁zzz", "a", "▁고래"),
        *plain.pieces(plain.encode("는"))[1:],
    ]
    assert more.pieces(more.encode("abc")) == plain.pieces(plain.encode("abc"))
    assert more.encode("abc") == plain.encode("abc"), "old ids stay"
