"""Trains the joint vocabulary of both languages with SentencePiece."""

import io
import math
import random
import re
import string
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import sentencepiece

from translator.config import TokenizerConfig
from translator.levels import LEVELS
from translator.tokenizer import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    PLACEHOLDERS,
    UNK_ID,
    WORD_MARK,
    Tokenizer,
    TokenizerError,
    normalize,
)

MAX_SENTENCE_BYTES: Final = 16_384
"""Longer lines are left out of tokenizer training (Hangul takes 3 bytes a syllable)."""

ALWAYS_IN_VOCABULARY: Final = string.ascii_letters + string.digits + string.punctuation + "ㅋㅎㅠㅜ"
"""Characters that get a piece of their own even if the corpus lacks them, so that names and numbers
can be copied.
"""

RAREST: Final = 1 / 20_000
"""The share of all words that a word must have, at the least, to get a piece that unigram training
did not give it."""
FEWEST: Final = 10
"""And how often it must occur."""

_WORD: Final = re.compile(r"(?<!\S)[A-Za-z가-힣]{1,16}(?![A-Za-z가-힣])")
"""A word or the beginning of one (didn of didn't), not longer than SentencePiece's own pieces."""


def train_tokenizer(lines: Iterable[str], config: TokenizerConfig) -> Tokenizer:
    """Trains one vocabulary over both languages.

    `config.vocab_size` is a ceiling: a small corpus has fewer distinct pieces and gives a smaller
    vocabulary. Of more than `config.max_sentences` lines a random sample is used.

    Raises:
        TokenizerError: no usable line, or the ceiling is below the number of different characters.
    """
    usable = _sample(
        (text for text in map(normalize, lines) if 0 < len(text.encode()) <= MAX_SENTENCE_BYTES),
        config.max_sentences,
    )
    if not usable:
        raise TokenizerError(
            "tokenizer: no usable line to learn from: "
            f"every one is empty or above {MAX_SENTENCE_BYTES} bytes"
        )
    try:
        tokenizer = _train(usable, config, config.vocab_size)
        if config.model_type == "unigram":
            words = _frequent_words(usable)
            room = max(0, min(config.vocab_size // 20, config.vocab_size - _least(usable, config)))
            split = _split_words(words, tokenizer)[:room]
            if split and tokenizer.vocab_size + len(split) > config.vocab_size:
                tokenizer = _train(usable, config, config.vocab_size - len(split))
                split = _split_words(words, tokenizer)[: len(split)]
            tokenizer = _with_words(tokenizer, {word: words[word] for word in split})
    except RuntimeError as error:
        raise TokenizerError(_explain(error, usable, config)) from None
    return tokenizer


def _train(lines: Iterable[str], config: TokenizerConfig, vocab_size: int) -> Tokenizer:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=vocab_size,
        hard_vocab_limit=False,
        model_type=config.model_type,
        byte_fallback=config.byte_fallback,
        character_coverage=config.character_coverage,
        required_chars=ALWAYS_IN_VOCABULARY,
        split_digits=True,
        normalization_rule_name="identity",
        max_sentence_length=MAX_SENTENCE_BYTES,
        pad_id=PAD_ID,
        unk_id=UNK_ID,
        bos_id=BOS_ID,
        eos_id=EOS_ID,
        control_symbols=[f"<{level}>" for level in LEVELS],
        user_defined_symbols=list(PLACEHOLDERS),
        num_threads=1,
        minloglevel=2,
    )
    return Tokenizer(model.getvalue())


def _frequent_words(lines: Sequence[str]) -> Mapping[str, float]:
    """Log-probability of each frequent word, the most frequent one first."""
    counts = Counter(word for line in lines for word in _WORD.findall(line))
    total = sum(counts.values())
    return {
        word: math.log(n / total)
        for word, n in counts.most_common()
        if n >= max(FEWEST, RAREST * total)
    }


def _split_words(words: Iterable[str], tokenizer: Tokenizer) -> list[str]:
    """The words that a unigram model splits although they are frequent: English ones anywhere (am
    in ▁a m, since 'm stands in every I'm), Korean ones only from their mark (▁ 못); the other
    splits of Korean are between stem and particle, where they belong.
    """
    known = tokenizer.plain_pieces()
    spelled = {word: tokenizer.pieces(tokenizer.encode(word)) for word in words}
    return [
        word
        for word, pieces in spelled.items()
        if len(pieces) > 1 and (word.isascii() or pieces == [WORD_MARK, word])
        if WORD_MARK + word not in known
    ]


def _with_words(tokenizer: Tokenizer, words: Mapping[str, float]) -> Tokenizer:
    """More pieces at the end of a vocabulary. A SentencePiece model is a protocol-buffer message in
    which field 1 is repeated, one message a piece (1: the text, 2: its score as a float), so a
    piece is added by writing one more behind it.
    """
    model = tokenizer.model
    for word, score in words.items():
        text = f"{WORD_MARK}{word}".encode()
        piece = bytes((0x0A, len(text))) + text + b"\x15" + struct.pack("<f", score)
        model += bytes((0x0A, len(piece))) + piece
    return Tokenizer(model)


def _sample(lines: Iterable[str], size: int) -> list[str]:
    """At most `size` lines, each with the same chance, in one pass (Vitter's algorithm R, 1985)."""
    rng = random.Random(size)
    chosen: list[str] = []
    for seen, line in enumerate(lines):
        if seen < size:
            chosen.append(line)
        elif (place := rng.randrange(seen + 1)) < size:
            chosen[place] = line
    return chosen


def _explain(error: RuntimeError, lines: Sequence[str], config: TokenizerConfig) -> str:
    """SentencePiece's assertion in plain words, with the smallest size that would work."""
    least = _least(lines, config)
    if config.vocab_size < least:
        return (
            f"tokenizer.vocab_size: {config.vocab_size} is too small for this corpus, whose "
            f"characters alone need {least}; raise it, or lower tokenizer.character_coverage"
        )
    return f"tokenizer: SentencePiece cannot train on this corpus: {' '.join(str(error).split())}"


def _least(lines: Sequence[str], config: TokenizerConfig) -> int:
    """Pieces that a vocabulary of these lines cannot do without: special ones and characters."""
    special = 4 + len(LEVELS) + len(PLACEHOLDERS) + (256 if config.byte_fallback else 0)
    return special + len(set(ALWAYS_IN_VOCABULARY).union(*lines, WORD_MARK) - {" "})
