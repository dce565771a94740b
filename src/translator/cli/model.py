"""The model that a command works with."""

from pathlib import Path

from translator.checkpoint import PRETRAINED
from translator.inference import Translator


def model_path(asked: str | None) -> str | Path:
    """What --model names; without it the model inside the package. (The word "pretrained" would
    not do: of somebody who has a directory of that name it means the directory.)
    """
    return PRETRAINED if asked is None else asked


def load_translator(asked: str | None, device: str) -> Translator:
    """The model of --model on the --device, ready to translate."""
    return Translator.from_pretrained(model_path(asked), device)
