"""What was seen inside a model as plain values for JSON: the same from the command line and the
server.
"""

from typing import Any

from translator.looking import KINDS, Looking
from translator.tracing import Trace

DIGITS = 5  # of weights and probabilities


def looking_as_dict(looking: Looking) -> dict[str, Any]:
    """Labels of the axes, and the weights of every layer and head of all three attentions.

    "source", "read" and "written" are pieces; rows and columns of "encoder" are "source", of
    "decoder" "read"; rows of "cross" are "written" and its columns "source". "…_words" say which
    pieces, counted from 0, make a word.
    """
    found = _axes(looking)
    for kind in KINDS:  # L × H × Tq × Tk
        found[kind] = looking.weights(kind).double().round(decimals=DIGITS).tolist()
    return found


def trace_as_dict(trace: Trace) -> dict[str, Any]:
    """A trace with the shapes of its weights instead of the weights themselves.

    The axes have the names that `looking_as_dict` gives them.
    """
    return {
        "text": trace.text,
        "level": trace.style,
        "translation": trace.translation,
        **_axes(trace.looking),
        "shapes": [
            {
                "module": shapes.module,
                "class": shapes.kind,
                "inputs": [list(shape) for shape in shapes.inputs],
                "outputs": [list(shape) for shape in shapes.outputs],
            }
            for shapes in trace.shapes
        ],
        "masks": {kind: mask.tolist() for kind, mask in trace.masks.items()},
        "weights": {kind: list(trace.weights_shape(kind)) for kind in KINDS},
        "logits": list(trace.logits),
        "steps": [
            {
                "read": list(step.read),
                "candidates": [
                    {"piece": candidate.piece, "probability": round(candidate.probability, DIGITS)}
                    for candidate in step.candidates
                ],
                "chosen": step.chosen,
                "looked": [round(weight, DIGITS) for weight in step.looked],
                "text": step.text,
            }
            for step in trace.steps
        ],
    }


def _axes(looking: Looking) -> dict[str, Any]:
    """Pieces and words of what the encoder read, what the decoder read, and what it wrote."""
    found: dict[str, Any] = {}
    axes = {"source": looking.source, "read": looking.read, "written": looking.written}
    for name, axis in axes.items():
        found[name] = list(axis.pieces)
        found[f"{name}_words"] = [
            {"text": word.text, "special": word.special, "pieces": list(word.places)}
            for word in axis.words
        ]
    return found
