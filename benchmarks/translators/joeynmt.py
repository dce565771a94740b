"""JoeyNMT 2.3.0 with our weights and its own greedy search, which has no cache.

The order of its special tokens is fixed, so unk and pad change places on the way in. Of the ids
that nobody writes, padding is the only one that its search cannot rule out.
"""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import torch
from joeynmt.batch import Batch
from joeynmt.model import Model, build_model
from joeynmt.search import search as joeynmt_search
from joeynmt.vocabulary import Vocabulary
from participants.measuring import D_MODEL, N_LAYERS
from peer_models.joeynmt import model_settings
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


def build(weights: Mapping[str, Tensor], material: Material, order: Sequence[int]) -> Model:
    """The model from its own kind of settings, in evaluation mode.

    Args:
        order: our id of each of its ids
    """
    pieces = [material.pieces[number] for number in order]
    special = ("unk", "pad", "bos", "eos")
    names = {f"{name}_token": pieces[i] for i, name in enumerate(special)}
    numbers = {f"{name}_id": i for i, name in enumerate(special)}
    tags = [material.pieces[tag] for tag in material.tags]
    symbols = SimpleNamespace(**names, **numbers, sep_token=None, sep_id=None, lang_tags=tags)
    vocabulary = Vocabulary(pieces, symbols)
    if vocabulary._itos != pieces:
        raise SystemExit("JoeyNMT numbers the pieces in another way")
    model = build_model(model_settings(norm_first=False), vocabulary, vocabulary)
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = nn.LayerNorm(1).eps  # PyTorch's, as in training, not JoeyNMT's
    unknown = model.load_state_dict(_renamed(weights, order), strict=False)
    if unknown.missing_keys or unknown.unexpected_keys:
        raise SystemExit(f"the weights do not fit: {unknown}")
    return model.eval()


def _renamed(weights: Mapping[str, Tensor], order: Sequence[int]) -> dict[str, Tensor]:
    """Our weights under the names of JoeyNMT, and our table of positions."""
    table = weights["embedding.weight"][torch.tensor(order)]
    found = dict.fromkeys(
        ("src_embed.lut.weight", "trg_embed.lut.weight", "decoder.output_layer.weight"), table
    )
    for stack, names in (("encoder", _ENCODER), ("decoder", _DECODER)):
        known = weights["positions"]
        beyond = known.new_zeros(5000 - len(known), D_MODEL)  # more than any sentence needs
        found[f"{stack}.pe.pe"] = torch.cat((known, beyond))[None]
        for i in range(N_LAYERS):
            for own, other in names:
                for kind in ("weight", "bias"):
                    weight = weights[f"{stack}.layers.{i}.{own}.{kind}"]
                    found[f"{stack}.layers.{i}.{other}.{kind}"] = weight
    return found


def _attention(own: str, other: str) -> list[tuple[str, str]]:
    parts = (("w_q", "q"), ("w_k", "k"), ("w_v", "v"), ("w_o", "output"))
    return [(f"{own}.{part}", f"{other}.{name}_layer") for part, name in parts]


_FEED_FORWARD = [
    ("feed_forward.widen", "feed_forward.pwff_layer.0"),
    ("feed_forward.narrow", "feed_forward.pwff_layer.3"),
    ("feed_forward_norm.norm", "feed_forward.layer_norm"),
]
_ENCODER = [
    *_attention("self_attn", "src_src_att"),
    ("self_attn_norm.norm", "layer_norm"),
    *_FEED_FORWARD,
]
_DECODER = [
    *_attention("self_attn", "trg_trg_att"),
    ("self_attn_norm.norm", "x_layer_norm"),
    *_attention("cross_attn", "src_trg_att"),
    ("cross_attn_norm.norm", "dec_layer_norm"),
    *_FEED_FORWARD,
]


def main() -> None:
    """Translates and prints what was measured."""
    args = arguments(__doc__)
    torch.set_num_threads(args.threads)
    material = read_material(args.model)
    special = [material.unk, material.pad, material.bos, material.eos]
    order = [*special, *range(len(special), len(material.pieces))]
    theirs = {number: place for place, number in enumerate(order)}
    model = build(torch.load(args.model / "weights.pt", weights_only=True), material, order)

    def search(batch: Sequence[Ids]) -> list[list[int]]:
        rows = [[theirs[number] for number in ids] for ids in batch]
        made = Batch(
            src=torch.tensor(rectangle(rows, model.pad_index)),
            src_length=torch.tensor([len(row) for row in rows]),
            src_prompt_mask=None,
            trg=None,
            trg_prompt_mask=None,
            indices=torch.arange(len(rows)),
            device=torch.device("cpu"),
            pad_index=model.pad_index,
            eos_index=model.eos_index,
            is_train=False,
        )
        written, _, _ = joeynmt_search(
            model,
            made,
            max_output_length=most_tokens(batch),
            beam_size=1,
            beam_alpha=-1,
            min_output_length=0,
            generate_unk=False,
        )
        return [[order[number] for number in row] for row in written.tolist()]

    run(material, search, args, {"torch": str(torch.__version__)})


if __name__ == "__main__":
    main()
