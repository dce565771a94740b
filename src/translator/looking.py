"""Where a translation looked, with words on both axes: from raw weights to heat maps."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple

import torch
from torch import Tensor

from translator.errors import UserError
from translator.heatmap import Heatmap
from translator.inference import Translator
from translator.tokenizer import BOS_ID, EOS_ID, WORD_MARK, Tokenizer
from translator.translation import Translation

Kind = Literal["encoder", "decoder", "cross"]
KINDS: Final[tuple[Kind, ...]] = ("encoder", "decoder", "cross")
CUT_OFF: Final = "…"  # what stands instead of </s> where the length limit ended a translation


class NoSuchMap(UserError, ValueError):
    """The model has no such layer or head."""


class Word(NamedTuple):
    """Some pieces that together are a word, or a special token."""

    text: str
    special: bool
    places: tuple[int, ...]  # of its pieces, from 0


class Axis(NamedTuple):
    """What stands along one side of a map."""

    pieces: tuple[str, ...]
    words: tuple[Word, ...]


class Looking:
    """Everything that one translation looked at.

    Args:
        translator: whose model wrote the translation
        text: the source
        translation: by greedy or beam search; the weights come from one pass over it
        style: speech level that the translation was asked for
    """

    def __init__(
        self, translator: Translator, text: str, translation: Translation, style: str
    ) -> None:
        maps = translator.attention_maps(text, translation, style)
        self._weights = {kind: weights[:, 0] for kind, weights in zip(KINDS, maps, strict=True)}
        axis = partial(_axis, translator.tokenizer, translator.hidden(text).things)
        self.source = axis(translator.encode_source(text, style))
        self.read = axis([BOS_ID, *translation.ids])  # what the decoder was given
        self.written = axis([*translation.ids, EOS_ID])  # what it wrote there
        if not translation.finished:
            self.written = _cut_off(self.written)

    def weights(self, kind: Kind) -> Tensor:
        """Raw weights of one kind.  -> (L, H, Tq, Tk)"""
        return self._weights[kind]

    def axes(self, kind: Kind) -> tuple[Axis, Axis]:
        """Who looks and what is looked at: in cross-attention each row is named by the token that
        was written there, in the decoder's self-attention by the token that was read.
        """
        return {
            "encoder": (self.source, self.source),
            "decoder": (self.read, self.read),
            "cross": (self.written, self.source),
        }[kind]

    def heatmap(
        self, kind: Kind, layer: int | None = None, head: int | None = None, *, words: bool = False
    ) -> Heatmap:
        """One map.

        Args:
            layer, head: from 1; None is the mean of all
            words: pieces of a word become one: columns are added, rows averaged, so that a row
                still sums to 1

        Raises:
            NoSuchMap: the model has no such layer or head.
        """
        weights = _chosen(self.weights(kind), layer, "layer")  # (H, Tq, Tk)
        weights = _chosen(weights, head, "head")  # (Tq, Tk)
        rows, columns = self.axes(kind)
        if words:
            weights = merged(weights, rows.words, columns.words)
        where = "all layers" if layer is None else f"layer {layer}"
        which = "mean of heads" if head is None else f"head {head}"
        return Heatmap(
            title=f"{kind} · {where} · {which}",
            rows=[word.text for word in rows.words] if words else rows.pieces,
            columns=[word.text for word in columns.words] if words else columns.pieces,
            weights=weights.tolist(),
        )


def merged(weights: Tensor, rows: Sequence[Word], columns: Sequence[Word]) -> Tensor:
    """Pieces become words; rows still sum to 1.  (Tq, Tk) -> (rows, columns)"""
    weights = torch.stack([weights[list(word.places)].mean(dim=0) for word in rows])
    return torch.stack([weights[:, list(word.places)].sum(dim=1) for word in columns], dim=1)


def _chosen(weights: Tensor, number: int | None, name: str) -> Tensor:
    if number is None:
        return weights.mean(dim=0)
    if not 1 <= number <= len(weights):
        raise NoSuchMap(f"{name} {number}: the model has {name}s 1 to {len(weights)}")
    return weights[number - 1]


def _axis(tokenizer: Tokenizer, things: Mapping[str, str], ids: Sequence[int]) -> Axis:
    """Pieces as the model has them; words as people read them, without placeholders."""
    pieces = tuple(tokenizer.pieces(ids))
    groups: list[list[int]] = []
    apart = True  # whether the next piece cannot belong to what stands before it
    for place, (token, piece) in enumerate(zip(ids, pieces, strict=True)):
        special = tokenizer.is_special(token)
        if apart or special or piece.startswith(WORD_MARK):
            groups.append([])
        groups[-1].append(place)
        apart = special
    words = (_word(tokenizer, ids, pieces, group) for group in groups)
    return Axis(pieces, tuple(word._replace(text=_shown(word.text, things)) for word in words))


def _word(
    tokenizer: Tokenizer, ids: Sequence[int], pieces: Sequence[str], places: Sequence[int]
) -> Word:
    special = tokenizer.is_special(ids[places[0]])
    text = pieces[places[0]] if special else tokenizer.decode([ids[place] for place in places])
    return Word(text or WORD_MARK, special, tuple(places))


def _shown(text: str, things: Mapping[str, str]) -> str:
    for name, thing in things.items():
        text = text.replace(name, thing)
    return text


def _cut_off(axis: Axis) -> Axis:
    last = axis.words[-1]._replace(text=CUT_OFF)
    return Axis((*axis.pieces[:-1], CUT_OFF), (*axis.words[:-1], last))
