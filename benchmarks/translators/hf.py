"""Hugging Face MarianMTModel with our weights and its own `generate`, greedy and with its cache."""

from collections.abc import Mapping, Sequence

import torch
import transformers
from participants.measuring import N_LAYERS
from peer_models.hf import marian
from torch import Tensor
from transformers import MarianMTModel

from translators.material import (
    Ids,
    Material,
    arguments,
    most_tokens,
    read_material,
    rectangle,
    run,
)


def build(weights: Mapping[str, Tensor], material: Material) -> MarianMTModel:
    """The model with our weights, in evaluation mode."""
    model = marian(
        len(material.pieces),
        len(weights["positions"]),
        pad=material.pad,
        bos=material.bos,
        eos=material.eos,
    )
    unknown = model.load_state_dict(_renamed(weights), strict=False)
    missing = set(unknown.missing_keys) - {"lm_head.weight", "final_logits_bias"}  # tied; zero
    if unknown.unexpected_keys or missing:
        raise SystemExit(f"the weights do not fit: {unknown}")
    model.tie_weights()
    return model.eval()


def _renamed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under the names of Marian. Its own positions have all sines in front of all
    cosines, so they are replaced by ours.
    """
    found = {}
    for name in ("shared", "encoder.embed_tokens", "decoder.embed_tokens"):
        found[f"model.{name}.weight"] = weights["embedding.weight"]
    for stack in ("encoder", "decoder"):
        found[f"model.{stack}.embed_positions.weight"] = weights["positions"]
        for i in range(N_LAYERS):
            for own, other in _NAMES:
                for kind in ("weight", "bias"):
                    weight = weights.get(f"{stack}.layers.{i}.{own}.{kind}")
                    if weight is not None:  # only the decoder has cross-attention
                        found[f"model.{stack}.layers.{i}.{other}.{kind}"] = weight
    return found


_NAMES = [
    *(
        (f"{own}.{part}", f"{other}.{name}")
        for own, other in (("self_attn", "self_attn"), ("cross_attn", "encoder_attn"))
        for part, name in (
            ("w_q", "q_proj"),
            ("w_k", "k_proj"),
            ("w_v", "v_proj"),
            ("w_o", "out_proj"),
        )
    ),
    ("self_attn_norm.norm", "self_attn_layer_norm"),
    ("cross_attn_norm.norm", "encoder_attn_layer_norm"),
    ("feed_forward.widen", "fc1"),
    ("feed_forward.narrow", "fc2"),
    ("feed_forward_norm.norm", "final_layer_norm"),
]


def main() -> None:
    """Translates and prints what was measured."""
    args = arguments(__doc__)
    torch.set_num_threads(args.threads)
    material = read_material(args.model)
    model = build(torch.load(args.model / "weights.pt", weights_only=True), material)

    @torch.inference_mode()
    def search(batch: Sequence[Ids]) -> list[list[int]]:
        src = torch.tensor(rectangle(batch, material.pad))  # (B, S)
        found = model.generate(
            input_ids=src,
            attention_mask=(src != material.pad).long(),
            num_beams=1,
            do_sample=False,
            use_cache=True,
            max_new_tokens=most_tokens(batch),
            suppress_tokens=material.never,
        )  # (B, 1 + T)
        rows: list[list[int]] = found[:, 1:].tolist()
        return rows

    versions = {"torch": str(torch.__version__), "transformers": transformers.__version__}
    run(material, search, args, versions)


if __name__ == "__main__":
    main()
