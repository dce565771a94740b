"""Hugging Face MarianMTModel from random weights."""

from participants.measuring import D_FF, D_MODEL, DROPOUT, N_HEADS, N_LAYERS
from transformers import MarianConfig, MarianMTModel


def marian(vocab_size: int, max_len: int, *, pad: int, bos: int, eos: int) -> MarianMTModel:
    """It normalises after each block and knows no other order; by default it drops no attention
    weights.

    Args:
        pad, bos, eos: ids
    """
    return MarianMTModel(
        MarianConfig(
            vocab_size=vocab_size,
            decoder_vocab_size=vocab_size,
            d_model=D_MODEL,
            encoder_layers=N_LAYERS,
            decoder_layers=N_LAYERS,
            encoder_attention_heads=N_HEADS,
            decoder_attention_heads=N_HEADS,
            encoder_ffn_dim=D_FF,
            decoder_ffn_dim=D_FF,
            dropout=DROPOUT,
            activation_function="relu",
            max_position_embeddings=max_len,
            scale_embedding=True,
            share_encoder_decoder_embeddings=True,
            tie_word_embeddings=True,
            pad_token_id=pad,
            bos_token_id=bos,
            eos_token_id=eos,
            decoder_start_token_id=bos,
            forced_eos_token_id=None,
        )
    )
