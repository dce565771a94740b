"""Hugging Face MarianMTModel from random weights.

The optimizer is the fused AdamW, which is what the Trainer of transformers takes by default.
"""

import torch
from peer_models.hf import marian
from torch import Tensor, nn

from participants.loop import BOS_ID, EOS_ID, LEARNING_RATE, PAD_ID, read_vocabulary, run
from participants.measuring import MAX_LEN, SEED, arguments


class Marian(nn.Module):
    """MarianMTModel as the loop calls it."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.model = marian(vocab_size, MAX_LEN, pad=PAD_ID, bos=BOS_ID, eos=EOS_ID)

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """Logits at every target position.  (B, S), (B, T) -> (B, T, V)"""
        logits: Tensor = self.model(
            input_ids=src,
            attention_mask=(src != PAD_ID).long(),
            decoder_input_ids=tgt_in,
            use_cache=False,
        ).logits
        return logits


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
