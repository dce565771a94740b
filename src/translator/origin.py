"""Where a run gets vocabulary and sizes if it does not create them: from the run that was stopped,
or from the model that is trained further (`train.init_from`).
"""

from dataclasses import replace

from translator.checkpoint import Checkpoint, find_checkpoint, load_checkpoint
from translator.config import Config, DecodingConfig
from translator.events import Note
from translator.run_dir import RunDirectory


def find_origin(config: Config, run_dir: RunDirectory, resume: bool) -> Checkpoint | None:
    """The checkpoint that gives vocabulary and sizes: of the stopped run, or of train.init_from."""
    if resume:
        return load_checkpoint(run_dir.last)
    if config.train.init_from:
        return load_checkpoint(find_checkpoint(config.train.init_from))
    return None


def with_shape_of(origin: Checkpoint | None, config: Config) -> Config:
    """A model that starts from another has its sizes and vocabulary, of which only dropout is free,
    and its way of decoding if the config names none.
    """
    if origin is None or not config.train.init_from:
        return config
    model = replace(origin.config.model, dropout=config.model.dropout)
    decoding = config.decoding
    if decoding == DecodingConfig():
        # which instructions there are is this machine's, not the other model's
        decoding = replace(origin.config.decoding, precision=decoding.precision)
    return replace(config, model=model, tokenizer=origin.config.tokenizer, decoding=decoding)


def origin_note(config: Config, origin: Checkpoint) -> Note:
    """Says what was taken from the other model, and which settings have no effect then."""
    shape = origin.config.model
    return Note(
        f"starts from {find_checkpoint(config.train.init_from)} (step {origin.step}) with its "
        f"vocabulary and sizes (d_model {shape.d_model}, {shape.n_encoder_layers} + "
        f"{shape.n_decoder_layers} layers); of this config's sections model and tokenizer only "
        "model.dropout counts"
    )
