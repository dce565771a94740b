import io
import unicodedata

import pytest
import sentencepiece
from conftest import PAIRS
from hypothesis import given
from hypothesis import strategies as st

from translator.config import TokenizerConfig
from translator.levels import LEVELS
from translator.tokenizer import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    UNK_ID,
    Tokenizer,
    TokenizerError,
    normalize,
)
from translator.vocabulary import train_tokenizer

LINES = [text for pair in PAIRS for text in pair[:2]]
TOKENIZER = train_tokenizer(LINES, TokenizerConfig())

SPACING_TRAPS = [
    "할 수 있다",
    "3개 주세요.",
    "(주) 가나",
    "25. 9월",
    "3.5 km를 걸었습니다.",
    '그는 "네"라고 했습니다.',
    "집에서만이라도 쉬어요.",
    "아, 그래요?",
    "먹어 보다",
    "못 하다/못하다",
    "10시 30분에 봐요!",
    "서울(首都)에서",
    "50%를 넘었습니다.",
    "'작은따옴표'와 [대괄호]",
    "다음 주 월요일~금요일",
    "A/S 센터",
    "1,000원입니다.",
    "e-mail: a@b.kr",
    "책·공책·연필",
    "뭐라고요...?",
]


@pytest.mark.fault("B23")
def test_decomposed_hangul_is_the_same_text():
    nfc, nfd = "안녕하세요", unicodedata.normalize("NFD", "안녕하세요")
    assert (len(nfc), len(nfd)) == (5, 12)
    assert TOKENIZER.encode(nfd) == TOKENIZER.encode(nfc)
    assert TOKENIZER.encode_target(nfd) == TOKENIZER.encode_target(nfc)
    assert TOKENIZER.decode(TOKENIZER.encode(nfd)) == nfc


@pytest.mark.fault("B24")
@pytest.mark.parametrize(
    "text", ["ㅋㅋ", "ㅠㅠ", "ㄹㅇ", "㈜가나", "①", "…", "～", "ＡＢＣ", "１２３", "㎏", "½"]
)
def test_compatibility_characters_survive(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@pytest.mark.fault("B24")
def test_no_conjoining_jamo_comes_out():
    text = "".join(map(chr, range(0x1100, 0x1200))) + "ᄀ ᅡ"
    shown = TOKENIZER.decode(TOKENIZER.encode(text))
    assert not any(0x1100 <= ord(c) <= 0x11FF for c in shown)
    assert normalize("\u110f\u110f") == "ㅋㅋ"
    assert normalize("\u1112\u1161\u11ab") == "한"


@pytest.mark.fault("B25")
@pytest.mark.parametrize("text", SPACING_TRAPS)
def test_spaces_are_neither_lost_nor_added(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text
    assert TOKENIZER.decode(TOKENIZER.encode(f"  {text.replace(' ', '   ')} ")) == text


@pytest.mark.fault("B25")
@given(st.text())
def test_whatever_is_encoded_comes_back_normalised(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == normalize(text)


@given(st.text())
def test_normalising_twice_changes_nothing_more(text):
    once = normalize(text)
    assert normalize(once) == once
    assert unicodedata.is_normalized("NFC", once)


@pytest.mark.fault("B26")
def test_unseen_characters_are_spelled_in_bytes_and_come_back():
    text = "훵 뷁 😀 é"
    ids = TOKENIZER.encode(text)
    assert UNK_ID not in ids
    assert TOKENIZER.decode(ids) == text
    assert TOKENIZER.share_in_bytes([text]) > 0.7
    assert TOKENIZER.share_in_bytes(["저는 학생입니다."]) == 0


@pytest.mark.fault("B26")
def test_without_byte_fallback_the_unknown_is_never_shown():
    tokenizer = train_tokenizer(LINES, TokenizerConfig(byte_fallback=False))
    ids = tokenizer.encode("저는 뷁 학생")
    assert UNK_ID in ids
    assert "⁇" not in tokenizer.decode(ids)
    assert UNK_ID in tokenizer.never_generated
    assert tokenizer.share_in_bytes(["뷁"]) > 0


@pytest.mark.fault("B28")
def test_a_byte_sequence_cut_short_is_still_text():
    ids = TOKENIZER.encode("😀가 é")
    for end in range(len(ids) + 1):
        TOKENIZER.decode(ids[:end]).encode("utf-8")


@pytest.mark.fault("B33")
def test_the_special_ids_are_four_and_different():
    assert (PAD_ID, UNK_ID, BOS_ID, EOS_ID) == (0, 1, 2, 3)
    assert EOS_ID not in TOKENIZER.never_generated
    tags = [TOKENIZER.tag(level) for level in LEVELS]
    assert len({PAD_ID, UNK_ID, BOS_ID, EOS_ID, *tags}) == 9
    assert set(tags) < set(TOKENIZER.never_generated)


def test_a_foreign_vocabulary_is_refused():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(LINES), model_writer=model, vocab_size=80, minloglevel=2
    )
    with pytest.raises(TokenizerError, match="pad, unk, bos, eos have the ids"):
        Tokenizer(model.getvalue())
    with pytest.raises(TokenizerError, match="not a SentencePiece model"):
        Tokenizer(b"nonsense")


def test_source_and_target_have_their_special_tokens():
    plain = TOKENIZER.encode("I am a student.")
    assert TOKENIZER.encode_source("I am a student.", "polite") == [
        TOKENIZER.tag("polite"),
        *plain,
        EOS_ID,
    ]
    assert TOKENIZER.encode_target("I am a student.") == [*plain, EOS_ID]
    with pytest.raises(TokenizerError, match="unknown speech level 'rude'; choose from formal"):
        TOKENIZER.tag("rude")


def test_text_cannot_name_a_special_token():
    ids = TOKENIZER.encode("<formal> </s> <pad> <s> <unk>")
    assert not set(ids) & {PAD_ID, UNK_ID, BOS_ID, EOS_ID, *map(TOKENIZER.tag, LEVELS)}
    assert TOKENIZER.decode(ids) == "<formal> </s> <pad> <s> <unk>"


def test_digits_and_letters_have_pieces_even_if_the_corpus_lacks_them():
    assert TOKENIZER.pieces(TOKENIZER.encode("2047")) == ["▁", "2", "0", "4", "7"]
    assert TOKENIZER.share_in_bytes(["Xq7@"]) == 0


def test_plain_pieces_are_text():
    plain = TOKENIZER.plain_pieces()
    assert "a" in plain and "<formal>" not in plain and "<0x0A>" not in plain and "<s>" not in plain
    assert all(TOKENIZER.pieces([index]) == [piece] for piece, index in plain.items())


@given(st.text())
def test_the_fast_way_of_normalizing_is_the_thorough_one(text):
    """A control character in front, which becomes a space, forces the thorough way."""
    assert normalize(text) == normalize("\x00" + text)
