"""One translation as the chapter tells it: shapes as they pass, masks, and every greedy step."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor, nn

from translator.decoding import allowed_log_probs
from translator.inference import Translator
from translator.looking import Kind, Looking
from translator.model.attention import MultiHeadAttention
from translator.model.decoder import Decoder, DecoderLayer
from translator.model.embedding import Embedding
from translator.model.encoder import Encoder, EncoderLayer
from translator.model.layers import FeedForward
from translator.model.masks import padding_mask
from translator.model.transformer import Transformer
from translator.tokenizer import BOS_ID, EOS_ID, normalize
from translator.translation import Translation

N_CANDIDATES: Final = 5
BLOCKS: Final = (
    *(Transformer, Embedding, Encoder, EncoderLayer, Decoder, DecoderLayer),
    *(MultiHeadAttention, FeedForward),
)  # the boxes of the figure

Shape = tuple[int, ...]


class ModuleShapes(NamedTuple):
    """What one module was given and what it returned, in the order in which they ran."""

    module: str  # its name in the model, "encoder.layers.0.self_attn"
    kind: str  # its class
    depth: int  # in how many others it ran
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]


class Candidate(NamedTuple):
    """A token that could have come next."""

    piece: str
    probability: float


class GreedyStep(NamedTuple):
    """One turn of the loop: what was read, what could follow, what was taken."""

    read: tuple[str, ...]  # the decoder's input so far, <s> first
    candidates: tuple[Candidate, ...]  # the five likeliest, best first
    chosen: str
    looked: tuple[float, ...]  # at each source piece, mean over layers and heads; sums to 1
    text: str  # the translation so far, this step's token included


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Everything that happened while one sentence was translated greedily."""

    text: str
    style: str
    translation: str
    warnings: tuple[str, ...]
    looking: Looking
    shapes: tuple[ModuleShapes, ...]
    masks: dict[Kind, Tensor]  # bool (Tq, Tk), True = may attend
    logits: Shape  # (1, T, V)
    steps: tuple[GreedyStep, ...]

    def weights_shape(self, kind: Kind) -> Shape:
        """Of one layer's weights.  -> (1, H, Tq, Tk)"""
        return (1, *self.looking.weights(kind).shape[1:])


def trace(translator: Translator, text: str, style: str) -> Trace:
    """Translates one sentence greedily and writes down what happens.

    Args:
        text: not blank; what does not fit into the model is cut off, as everywhere
        style: speech level

    Raises:
        ValueError: the text is blank.
        EngineError: an exported model cannot be looked into.
        TokenizerError: no such style.
    """
    if not normalize(text):
        raise ValueError("there is no text to trace")
    model = translator.model
    options = translator.config.decoding.asked(beam_size=1)
    [translation] = translator.translate([text], style, options=options)
    looking = Looking(translator, text, translation, style)
    device = model.embedding.weight.device
    src = torch.tensor([translator.encode_source(text, style)], device=device)  # (1, S)
    tgt_in = torch.tensor([[BOS_ID, *translation.ids]], device=device)  # (1, T)
    with torch.no_grad():
        with _recorded(model) as shapes:
            logits = model(src, tgt_in)  # (1, T, V)
        steps = tuple(_steps(translator, looking, src, translation))
    return Trace(
        text=text,
        style=style,
        translation=translation.text,
        warnings=tuple(translation.warnings),
        looking=looking,
        shapes=tuple(shapes),
        masks=_masks(model, src, tgt_in),
        logits=tuple(logits.shape),
        steps=steps,
    )


def _steps(
    translator: Translator, looking: Looking, src: Tensor, translation: Translation
) -> Iterator[GreedyStep]:
    """The loop of greedy search over what it wrote, one `step` of the model at a time."""
    tokenizer, limits = translator.tokenizer, translator.limits(translator.config.decoding)
    ids = [*translation.ids, EOS_ID] if translation.finished else list(translation.ids)
    looked = looking.weights("cross").mean(dim=(0, 1)).tolist()  # T × S
    cache, token = translator.model.start(src), BOS_ID
    for t, chosen in enumerate(ids):
        step = translator.model.step(torch.tensor([token], device=src.device), cache)
        log_probs = allowed_log_probs(step.logits, [ids[:t]], [], limits)[0]  # (V,)
        best = log_probs.topk(N_CANDIDATES)
        pieces = tokenizer.pieces(best.indices.tolist())
        yield GreedyStep(
            read=looking.read.pieces[: t + 1],
            candidates=tuple(map(Candidate, pieces, best.values.exp().tolist())),
            chosen=looking.written.pieces[t],
            looked=tuple(looked[t]),
            text=tokenizer.decode(ids[: t + 1]),
        )
        cache, token = step.cache, chosen


def _masks(model: Transformer, src: Tensor, tgt_in: Tensor) -> dict[Kind, Tensor]:
    """The three masks of one sentence, each as wide and high as its weights."""
    n_source, n_target = src.size(1), tgt_in.size(1)
    src_mask = padding_mask(src, model.pad_id)[0, 0]  # (1, S)
    return {
        "encoder": src_mask.expand(n_source, n_source),
        "decoder": model.tgt_mask(tgt_in)[0, 0],
        "cross": src_mask.expand(n_target, n_source),
    }


@contextmanager
def _recorded(model: Transformer) -> Iterator[list[ModuleShapes]]:
    """Fills the list with what passes through the model's blocks inside; outer blocks stand before
    their parts. The model is left as it was.
    """
    found: list[ModuleShapes] = []
    running: list[int] = []
    handles = []

    def enter(module: nn.Module, args: Any, kwargs: Any) -> None:
        given = tuple(_shapes((args, kwargs)))
        kind = type(module).__name__
        found.append(ModuleShapes(names[module], kind, len(running), given, ()))
        running.append(len(found) - 1)

    def leave(_: nn.Module, __: Any, output: Any) -> None:
        place = running.pop()
        found[place] = found[place]._replace(outputs=tuple(_shapes(output)))

    names: dict[nn.Module, str] = {}
    names.update((m, name) for name, m in model.named_modules() if isinstance(m, BLOCKS))
    for module in names:
        handles.append(module.register_forward_pre_hook(enter, with_kwargs=True))
        handles.append(module.register_forward_hook(leave))
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def _shapes(value: Any) -> Iterator[Shape]:
    """The shapes of all tensors in nested tuples, lists and dicts, in order."""
    if isinstance(value, Tensor):
        yield tuple(value.shape)
    elif isinstance(value, dict):
        yield from _shapes(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _shapes(item)
