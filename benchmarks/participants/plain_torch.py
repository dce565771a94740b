"""A plain loop around torch.nn.Transformer, as a tutorial would write it."""

import torch
from peer_models.plain_torch import PlainTransformer, sinusoids

from participants.loop import LEARNING_RATE, PAD_ID, read_vocabulary, run
from participants.measuring import MAX_LEN, SEED, arguments


def main() -> None:
    """Trains for the steps asked for and prints what was measured."""
    args = arguments(__doc__)
    torch.manual_seed(SEED)
    vocab_size = len(read_vocabulary(args.data))
    model = PlainTransformer(vocab_size, PAD_ID, sinusoids(MAX_LEN), norm_first=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98))
    run("plain_torch", model, optimizer, args)


if __name__ == "__main__":
    main()
