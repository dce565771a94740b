"""Hugging Face MarianMTModel from random weights.

The optimizer is the fused AdamW, which is what the Trainer of transformers takes by default.
"""

import torch
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel

from participants.loop import (
    BOS_ID,
    EOS_ID,
    LEARNING_RATE,
    PAD_ID,
    Batch,
    read_vocabulary,
    run,
)
from participants.measuring import (
    D_FF,
    D_MODEL,
    DROPOUT,
    MAX_LEN,
    N_HEADS,
    N_LAYERS,
    SEED,
    arguments,
)


class Marian(nn.Module):
    """MarianMTModel at the benchmark's sizes. It normalises behind each block and knows no other
    order; it drops no attention weights by default.
    """

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.model = MarianMTModel(
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
                max_position_embeddings=MAX_LEN,
                scale_embedding=True,
                share_encoder_decoder_embeddings=True,
                tie_word_embeddings=True,
                pad_token_id=PAD_ID,
                bos_token_id=BOS_ID,
                eos_token_id=EOS_ID,
                decoder_start_token_id=BOS_ID,
                forced_eos_token_id=None,
            )
        )

    def forward(self, batch: Batch) -> Tensor:
        """Logits at every target position.  -> (B, T, V)"""
        return self.model(
            input_ids=batch.src,
            attention_mask=(batch.src != PAD_ID).long(),
            decoder_input_ids=batch.tgt_in,
            use_cache=False,
        ).logits


def main() -> None:
    """Trains for the steps asked for and prints what was measured."""
    args = arguments(__doc__)
    torch.manual_seed(SEED)
    model = Marian(len(read_vocabulary(args.data))).train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(
        trained, lr=LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.0, fused=True
    )
    run("hf", model, optimizer, args)


if __name__ == "__main__":
    main()
