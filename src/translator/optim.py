"""The optimizers, and the learning rate as a pure function of the step."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn

from translator.config import TrainConfig
from translator.distributed import ALONE, Workers
from translator.model.attention import MultiHeadAttention
from translator.model.embedding import Embedding
from translator.muon import Matrix, Muon


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


def make_optimizers(
    model: nn.Module,
    config: TrainConfig,
    workers: Workers = ALONE,
    dtype: torch.dtype = torch.float32,
) -> list[torch.optim.Optimizer]:
    """AdamW (Loshchilov and Hutter, 2019) for all, or Muon for the matrices of the blocks and AdamW
    for the rest. Weight decay is for those matrices, not for embedding, norms, biases.

    Args:
        workers: those that share the work of Muon
        dtype: of its products
    """
    matrices = list(_matrices(model))
    decayed = [matrix.weight for matrix in matrices]
    known = set(map(id, decayed))
    others = [parameter for parameter in model.parameters() if id(parameter) not in known]
    rest = {"params": others, "weight_decay": 0.0}
    if config.optimizer == "muon":
        muon = Muon(matrices, config.lr, config.weight_decay, workers, dtype)
        return [muon, _adamw([rest], config)]
    return [_adamw([{"params": decayed, "weight_decay": config.weight_decay}, rest], config)]


def _adamw(groups: list[dict[str, Any]], config: TrainConfig) -> torch.optim.AdamW:
    return torch.optim.AdamW(groups, lr=config.lr, betas=(0.9, 0.98), eps=1e-9, fused=True)


def _matrices(model: nn.Module) -> Iterator[Matrix]:
    """Every matrix but the embedding; those of attention fall into heads."""
    heads: dict[int, Matrix] = {}
    embeddings = set()
    for module in model.modules():
        if isinstance(module, Embedding | nn.Embedding):
            embeddings.add(id(module.weight))
        if isinstance(module, MultiHeadAttention):
            for projection in (module.w_q, module.w_k, module.w_v):
                heads[id(projection.weight)] = Matrix(projection.weight, module.n_heads)
            joint = Matrix(module.w_o.weight, module.n_heads, side_by_side=True)
            heads[id(module.w_o.weight)] = joint
    for parameter in model.parameters():
        if parameter.dim() == 2 and id(parameter) not in embeddings:
            yield heads.get(id(parameter), Matrix(parameter))


def set_learning_rate(optimizers: Iterable[torch.optim.Optimizer], rate: float) -> None:
    """The rate of the next `step()` of each, for every group."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate


def clip_gradients(model: nn.Module, most: float) -> float:
    """Scales all gradients down together when their norm exceeds `most`; 0 never does.  -> the norm
    before (Pascanu et al., 2013)
    """
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    if not gradients:
        return 0.0
    norms = torch._foreach_norm(gradients)
    norm = float(torch.linalg.vector_norm(torch.stack(norms)))
    if 0 < most < norm:
        torch._foreach_mul_(gradients, most / norm)
    return norm
