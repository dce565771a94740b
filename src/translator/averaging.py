"""One model from several checkpoints of a run: the mean of their weights."""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor


def average_weights(checkpoints: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of each weight, summed in float64; one checkpoint is held at a time.

    The mean of the last checkpoints translates a little better than any of them (Vaswani et al.,
    2017, section 6.1).
    """
    sums: dict[str, Tensor] = {}
    count = 0
    for weights in checkpoints:
        count += 1
        for name, weight in weights.items():
            double = weight.to(torch.float64)
            sums[name] = sums[name] + double if name in sums else double
    assert count, "nothing to average"
    return {name: (total / count).float() for name, total in sums.items()}
