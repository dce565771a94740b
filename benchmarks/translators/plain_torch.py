"""torch.nn.Transformer with the greedy loop of a tutorial: no cache, so each step computes the
whole target anew, and finished rows stay in the batch until all are finished.
"""

import math
from collections.abc import Mapping, Sequence

import torch
from participants.measuring import N_LAYERS
from peer_models.plain_torch import PlainTransformer
from torch import Tensor

from translators.material import (
    Ids,
    Material,
    arguments,
    most_tokens,
    read_material,
    rectangle,
    run,
)


def build(weights: Mapping[str, Tensor], material: Material) -> PlainTransformer:
    """The model with our weights, in evaluation mode."""
    positions = weights["positions"]
    model = PlainTransformer(len(material.pieces), material.pad, positions, norm_first=False)
    model.load_state_dict({"positions": positions, **_renamed(weights)})
    return model.eval()


def _renamed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under the names of torch.nn.Transformer."""
    found = {"embedding.weight": weights["embedding.weight"]}
    for stack, attentions in (("encoder", 1), ("decoder", 2)):
        for i in range(N_LAYERS):
            ours, theirs = f"{stack}.layers.{i}", f"transformer.{stack}.layers.{i}"
            names = (("self_attn", "self_attn"), ("cross_attn", "multihead_attn"))[:attentions]
            for number, (own, other) in enumerate(names, start=1):
                for kind in ("weight", "bias"):
                    parts = [
                        weights[f"{ours}.{own}.{part}.{kind}"] for part in ("w_q", "w_k", "w_v")
                    ]
                    found[f"{theirs}.{other}.in_proj_{kind}"] = torch.cat(parts)
                    found[f"{theirs}.{other}.out_proj.{kind}"] = weights[f"{ours}.{own}.w_o.{kind}"]
                    norm = weights[f"{ours}.{own}_norm.norm.{kind}"]
                    found[f"{theirs}.norm{number}.{kind}"] = norm
            for kind in ("weight", "bias"):
                found[f"{theirs}.linear1.{kind}"] = weights[f"{ours}.feed_forward.widen.{kind}"]
                found[f"{theirs}.linear2.{kind}"] = weights[f"{ours}.feed_forward.narrow.{kind}"]
                norm = weights[f"{ours}.feed_forward_norm.norm.{kind}"]
                found[f"{theirs}.norm{attentions + 1}.{kind}"] = norm
    return found


@torch.inference_mode()
def greedy(model: PlainTransformer, batch: Sequence[Ids], material: Material) -> list[list[int]]:
    """Always the likeliest next token.  -> ids with eos and what follows it"""
    src = torch.tensor(rectangle(batch, material.pad))  # (B, S)
    padding = src == material.pad  # (B, S)
    memory = model.encode(src)  # (B, S, D)
    tgt = torch.full((len(batch), 1), material.bos)  # (B, T)
    finished = torch.zeros(len(batch), dtype=torch.bool)
    for _ in range(most_tokens(batch)):
        logits = model.next_logits(tgt, memory, padding)  # (B, V)
        logits[:, material.never] = -math.inf
        tokens = logits.argmax(-1).masked_fill(finished, material.pad)  # (B,)
        tgt = torch.cat((tgt, tokens[:, None]), dim=1)
        finished |= tokens == material.eos
        if finished.all():
            break
    rows: list[list[int]] = tgt[:, 1:].tolist()
    return rows


def main() -> None:
    """Translates and prints what was measured."""
    args = arguments(__doc__)
    torch.set_num_threads(args.threads)
    material = read_material(args.model)
    model = build(torch.load(args.model / "weights.pt", weights_only=True), material)

    def search(batch: Sequence[Ids]) -> list[list[int]]:
        return greedy(model, batch, material)

    run(material, search, args, {"torch": str(torch.__version__)})


if __name__ == "__main__":
    main()
