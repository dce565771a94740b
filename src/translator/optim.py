"""AdamW, and the learning rate as a pure function of the step."""

import math

import torch
from torch import nn

from translator.config import TrainConfig


def learning_rate(step: int, config: TrainConfig) -> float:
    """The rate used by optimizer step 1, 2, 3, …: a straight rise to `lr` at `warmup_steps`, then a
    fall.

    "cosine" falls to 0 at `max_steps` (Loshchilov and Hutter, 2017); "inverse_sqrt" falls like
    1/√step and knows no end (Vaswani et al., 2017, section 5.3).
    """
    warmup = config.warmup_steps
    if step < warmup:
        return config.lr * step / warmup
    if config.schedule == "inverse_sqrt":
        return config.lr * math.sqrt(max(warmup, 1) / step)
    progress = (step - warmup) / max(config.max_steps - warmup, 1)
    return config.lr * 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.AdamW:
    """AdamW (Loshchilov and Hutter, 2019); weight decay on the matrices of the blocks, not on
    embedding, norms, biases.
    """
    decayed: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, parameter in model.named_parameters():
        matrix = parameter.dim() >= 2 and not name.startswith("embedding.")
        (decayed if matrix else others).append(parameter)
    groups = [
        {"params": decayed, "weight_decay": config.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=config.lr, betas=(0.9, 0.98), eps=1e-9, fused=True)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """The rate of the next `optimizer.step()`, for every group."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def clip_gradients(model: nn.Module, most: float) -> float:
    """Scales all gradients down together when their norm exceeds `most`; 0 never does.  -> the norm
    before (Pascanu et al., 2013)
    """
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    norms = torch._foreach_norm(gradients)
    norm = float(torch.linalg.vector_norm(torch.stack(norms)))
    if 0 < most < norm:
        torch._foreach_mul_(gradients, most / norm)
    return norm
