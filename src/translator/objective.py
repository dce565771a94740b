"""What training minimises, as one module."""

from torch import nn

from translator.batches import Batch
from translator.loss import LossSums, loss_sums
from translator.model.transformer import Transformer


class Objective(nn.Module):
    """Model and loss together, so that torch.compile and DistributedDataParallel can wrap both.

    Decoder states are compared with the vocabulary at real target positions only.
    """

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch, label_smoothing: float) -> LossSums:
        """The sums over one batch."""
        hidden = self.model.hidden(batch.src, batch.tgt_in)  # (B, T, D)
        logits = self.model.embedding.logits(hidden[batch.real])  # (N, V)
        return loss_sums(logits, batch.tgt_out[batch.real], label_smoothing)
