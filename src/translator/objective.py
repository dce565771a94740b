"""What training minimises, as one module."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translator.batches import Batch
from translator.loss import LossSums, loss_sums, projected_loss_sums
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
        labels = batch.tgt_out[batch.real]  # (N,)
        hidden = self.model.hidden(batch.src, batch.tgt_in)[batch.real]  # (N, D)
        table: Tensor = self.model.embedding.weight  # (V, D)
        if hidden.device.type != "cpu" or torch.compiler.is_compiling():
            return loss_sums(F.linear(hidden, table), labels, label_smoothing)
        if torch.is_autocast_enabled("cpu"):
            dtype = torch.get_autocast_dtype("cpu")
            hidden, table = hidden.to(dtype), table.to(dtype)
        return projected_loss_sums(hidden, table, labels, label_smoothing)
