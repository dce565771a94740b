"""JoeyNMT's own kind of settings of a model."""

from typing import Any

from participants.measuring import D_FF, D_MODEL, DROPOUT, N_HEADS, N_LAYERS


def model_settings(*, norm_first: bool) -> dict[str, Any]:
    """One embedding for source, target and output, and two stacks.

    Args:
        norm_first: whether each block normalises first, or last
    """
    return {
        "tied_embeddings": True,
        "tied_softmax": True,
        "encoder": _stack(norm_first),
        "decoder": _stack(norm_first),
    }


def _stack(norm_first: bool) -> dict[str, Any]:
    return {
        "type": "transformer",
        "num_layers": N_LAYERS,
        "num_heads": N_HEADS,
        "embeddings": {"embedding_dim": D_MODEL, "scale": True},
        "hidden_size": D_MODEL,
        "ff_size": D_FF,
        "dropout": DROPOUT,
        "layer_norm": "pre" if norm_first else "post",
    }
