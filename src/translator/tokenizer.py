"""Text to ids and back with SentencePiece; the only place that knows the special ids, and that
normalises what a model reads and writes.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

import sentencepiece

from translator.errors import UserError
from translator.levels import LEVELS
from translator.tidying import tidy

PAD_ID: Final = 0
UNK_ID: Final = 1
BOS_ID: Final = 2
EOS_ID: Final = 3

PLACEHOLDERS: Final = ("<1>", "<2>", "<3>", "<4>")
"""Pieces of a new vocabulary that stand for what is carried over as it is, see placeholders.py."""


class TokenizerError(UserError, ValueError):
    """A vocabulary cannot be trained as asked, or is not one of this project's."""


def _hangul_letters() -> dict[int, str | None]:
    """Conjoining jamo (U+1100-U+11FF) that composed to no syllable -> the letters people type (ㅋ,
    ㅠ), by their names.
    """
    table: dict[int, str | None] = {}
    for code in range(0x1100, 0x1200):
        name = unicodedata.name(chr(code), "")
        for kind in ("CHOSEONG", "JUNGSEONG", "JONGSEONG"):
            name = name.replace(f"HANGUL {kind} ", "HANGUL LETTER ")
        try:
            table[code] = unicodedata.lookup(name)
        except KeyError:
            table[code] = None  # archaic jamo without a letter of their own
    return table


_JAMO_TO_LETTER: Final = _hangul_letters()
_RARE: Final = re.compile("[\u1100-\u11ff\u2581]")  # printable, but not left as it is
WORD_MARK: Final = "\u2581"
"""SentencePiece writes a space as this character, so text must not contain it."""


def normalize(text: str) -> str:
    """NFC, one kind of space, no control characters; ㅋㅋ, ㈜, full-width Ａ and … survive.

    Decomposed Hangul (as macOS writes it) becomes syllables. Line separators and control characters
    become spaces, runs of spaces become one, lone surrogates become U+FFFD.
    """
    if text.isprintable() and unicodedata.is_normalized("NFC", text) and not _RARE.search(text):
        return " ".join(text.split())  # nearly always, and ten times as fast
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = unicodedata.normalize("NFC", text).translate(_JAMO_TO_LETTER).replace(WORD_MARK, "_")
    return " ".join("".join(" " if unicodedata.category(c) == "Cc" else c for c in text).split())


class Tokenizer:
    """A joint English-Korean vocabulary. The first ids are pad, unk, bos, eos and one tag for each
    speech level.

    Args:
        model: the bytes of a SentencePiece model made by `vocabulary.train_tokenizer`.

    Raises:
        TokenizerError: the bytes are no SentencePiece model, or its special ids are not this
            project's.
    """

    def __init__(self, model: bytes) -> None:
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
        except RuntimeError:
            raise TokenizerError("not a SentencePiece model; train one with this project") from None
        self.model = model
        found = (
            self._processor.pad_id(),
            self._processor.unk_id(),
            self._processor.bos_id(),
            self._processor.eos_id(),
        )
        if found != (PAD_ID, UNK_ID, BOS_ID, EOS_ID):
            raise TokenizerError(f"pad, unk, bos, eos have the ids {found}, expected 0, 1, 2, 3")
        self._tags = {level: self._processor.PieceToId(f"<{level}>") for level in LEVELS}
        if not all(self._processor.IsControl(tag) for tag in self._tags.values()):
            raise TokenizerError(
                "the vocabulary has no speech-level tags; train one with this project"
            )

    @property
    def vocab_size(self) -> int:
        """V, the number of pieces that really exist."""
        return int(self._processor.GetPieceSize())

    @property
    def has_placeholders(self) -> bool:
        """Whether the vocabulary has a piece for each of PLACEHOLDERS."""
        return all(
            self._processor.IdToPiece(self._processor.PieceToId(name)) == name
            for name in PLACEHOLDERS
        )

    @property
    def fingerprint(self) -> str:
        """Same fingerprint, same pieces with the same ids."""
        return hashlib.sha256(self.model).hexdigest()[:16]

    @property
    def never_generated(self) -> list[int]:
        """Ids that no translation may contain: padding, unknown, start and the level tags."""
        return [PAD_ID, UNK_ID, BOS_ID, *self._tags.values()]

    def is_special(self, token: int) -> bool:
        """Whether an id stands for no text: padding, start, end, a level tag."""
        return bool(self._processor.IsControl(token))

    def encode(self, text: str) -> list[int]:
        """Text -> ids without any special token."""
        return list(self._processor.EncodeAsIds(normalize(text)))

    def encode_source(self, text: str, level: str) -> list[int]:
        """What the encoder reads: the tag of the wanted level, the pieces of the tidied text (see
        tidying.py), end of sentence.
        """
        return [self.tag(level), *self.encode(tidy(text)), EOS_ID]

    def encode_target(self, text: str) -> list[int]:
        """What the decoder learns to write: the pieces, end of sentence. (Its input starts with bos
        instead.)
        """
        return [*self.encode(text), EOS_ID]

    def tag(self, level: str) -> int:
        """The id of a speech level's tag.  Raises TokenizerError."""
        if level not in self._tags:
            raise TokenizerError(f"unknown speech level {level!r}; choose from {', '.join(LEVELS)}")
        return self._tags[level]

    def decode(self, ids: Sequence[int]) -> str:
        """Ids -> normalised text. Special tokens show nothing, an unfinished byte sequence shows
        U+FFFD.
        """
        return normalize(self._processor.DecodeIds([int(i) for i in ids if i != UNK_ID]))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The pieces as SentencePiece writes them, `▁` for a space: for heat maps and logs."""
        return [self._processor.IdToPiece(int(i)) for i in ids]

    def plain_pieces(self) -> dict[str, int]:
        """The pieces that stand for text as it is (no special token, no byte), with their ids."""
        return {
            self._processor.IdToPiece(i): i
            for i in range(self.vocab_size)
            if not (
                self._processor.IsControl(i)
                or self._processor.IsUnknown(i)
                or self._processor.IsByte(i)
            )
        }

    def share_in_bytes(self, lines: Iterable[str]) -> float:
        """Share of pieces that are unknown or spelled in bytes: how foreign these lines are to the
        vocabulary.
        """
        total = foreign = 0
        for line in lines:
            ids = self.encode(line)
            total += len(ids)
            foreign += sum(i == UNK_ID or self._processor.IsByte(i) for i in ids)
        return foreign / total if total else 0.0
