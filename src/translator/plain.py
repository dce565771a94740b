"""What was seen inside a model as plain values for JSON: the same from the command line and the
server.
"""

from typing import Any

from translator.looking import KINDS, Axis, Looking
from translator.tracing import Trace

DIGITS = 5  # of weights and probabilities


def looking_as_dict(looking: Looking) -> dict[str, Any]:
    """Labels of the axes, and the weights of every layer and head of all three attentions.

    "source", "read" and "written" are pieces; rows and columns of "encoder" are "source", of
    "decoder" "read"; rows of "cross" are "written" and its columns "source". "…_words" say which
    pieces, counted from 0, make a word.
    """
    found: dict[str, Any] = {}
    for name in ("source", "read", "written"):
        axis: Axis = getattr(looking, name)
        found[name] = list(axis.pieces)
        found[f"{name}_words"] = [
            {"text": word.text, "special": word.special, "pieces": list(word.places)}
            for word in axis.words
        ]
    for kind in KINDS:  # L × H × Tq × Tk
        found[kind] = looking.weights(kind).double().round(decimals=DIGITS).tolist()
    return found


def trace_as_dict(trace: Trace) -> dict[str, Any]:
    """A trace without the weights of its layers and heads, of which it has the shapes."""
    return {
        "text": trace.text,
        "level": trace.style,
        "translation": trace.translation,
        "source": list(trace.looking.source.pieces),
        "target": list(trace.looking.read.pieces),
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
