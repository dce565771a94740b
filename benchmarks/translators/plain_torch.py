"""torch.nn.Transformer with the greedy loop of a tutorial: no cache, so each step computes the
whole target anew, and finished rows stay in the batch until all are finished.
"""

import math
from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from participants.measuring import D_FF, D_MODEL, N_HEADS, N_LAYERS
from torch import Tensor, nn

from translators.material import (
    Ids,
    Material,
    arguments,
    most_tokens,
    read_material,
    rectangle,
    run,
)


class PlainTransformer(nn.Module):
    """torch.nn.Transformer between one embedding for source and target and the same as output.

    It normalises behind each block and, other than torch.nn.Transformer by itself, not once more at
    the end of both stacks, which the weights are not made for.
    """

    positions: Tensor  # (max_len, D)

    def __init__(self, weights: Mapping[str, Tensor], pad: int) -> None:
        super().__init__()
        self.pad = pad
        self.embedding = nn.Embedding(*weights["embedding.weight"].shape, padding_idx=pad)
        self.register_buffer("positions", weights["positions"])
        self.transformer = nn.Transformer(
            D_MODEL, N_HEADS, N_LAYERS, N_LAYERS, D_FF, dropout=0.0, batch_first=True
        )
        self.transformer.encoder.norm = None
        self.transformer.decoder.norm = None
        self.load_state_dict({"positions": self.positions, **_renamed(weights)})

    def encode(self, src: Tensor) -> Tensor:
        """(B, S) -> (B, S, D)"""
        return self.transformer.encoder(self._embed(src), src_key_padding_mask=src == self.pad)

    def next_logits(self, tgt: Tensor, memory: Tensor, padding: Tensor) -> Tensor:
        """(B, T), (B, S, D), (B, S) -> (B, V)"""
        length = tgt.size(1)
        future = torch.ones(length, length, dtype=torch.bool).triu(1)  # (T, T), True = hidden
        hidden = self.transformer.decoder(
            self._embed(tgt), memory, tgt_mask=future, memory_key_padding_mask=padding
        )  # (B, T, D)
        return F.linear(hidden[:, -1], self.embedding.weight)

    def _embed(self, ids: Tensor) -> Tensor:
        return self.embedding(ids) * math.sqrt(D_MODEL) + self.positions[: ids.size(1)]


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
    return tgt[:, 1:].tolist()


def main() -> None:
    """Translates and prints what was measured."""
    args = arguments(__doc__)
    torch.set_num_threads(args.threads)
    material = read_material(args.model)
    weights = torch.load(args.model / "weights.pt", weights_only=True)
    model = PlainTransformer(weights, material.pad).eval()
    run(
        material,
        lambda batch: greedy(model, batch, material),
        args,
        torch=str(torch.__version__),
    )


if __name__ == "__main__":
    main()
