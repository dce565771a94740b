"""One file that holds a whole translator; safe to load, and never half-written.

    format 1: {"format", "config", "tokenizer", "weights", "step", "metrics"}: plain values and
    tensors only

Whatever is loaded goes through `torch.load(weights_only=True)`, which cannot run code. Whatever is
saved is written to a temporary file beside the target, flushed to disk and renamed over it, so the
older file stays whole until the newer one is.
"""

import difflib
import pickletools
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from translator.config import Config, ConfigError
from translator.errors import UserError
from translator.files import replacing
from translator.model.transformer import Transformer
from translator.tokenizer import PAD_ID, Tokenizer, TokenizerError

FORMAT: Final = 1
MOST_SHARED: Final = 4  # times that a file may say it is; layers can share weights
MOST_VOCABULARY: Final = 1 << 24  # bytes; 65,536 pieces take about one million
_PLAIN: Final = re.compile(
    r"collections OrderedDict|torch\._utils _rebuild_(tensor_v[23]|parameter)"
    r"|torch(\.storage)? \w+Storage|torch (float8_\w+|uint\d+)"
)
"""What a pickle of plain values and tensors names."""
PRETRAINED: Final = Path(__file__).parent / "pretrained" / "model.pt"


class CheckpointError(UserError):
    """A checkpoint is missing, damaged, foreign, or does not fit what it is loaded into."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A trained translator as plain values: settings, vocabulary and weights belong together."""

    config: Config
    tokenizer: Tokenizer
    weights: Mapping[str, Tensor]
    step: int
    metrics: Mapping[str, float]

    def build_model(self) -> Transformer:
        """The model with these weights, in evaluation mode.  Raises CheckpointError when they do
        not fit; memory is claimed only when they do.
        """
        sizes = self._sizes()
        _check_fit(sizes, {name: self.weights[name] for name in sizes.keys() & self.weights.keys()})
        model = Transformer(self.config.model, self.tokenizer.vocab_size, PAD_ID)
        load_weights(model, self.weights)
        return model.eval()

    def _sizes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of some weights, which bound those of all."""
        config = self.config.model
        sizes: dict[str, tuple[int, ...]] = {
            "embedding.weight": (self.tokenizer.vocab_size, config.d_model)
        }
        layers = [f"encoder.layers.{n}" for n in range(config.n_encoder_layers)]
        layers += [f"decoder.layers.{n}" for n in range(config.n_decoder_layers)]
        for name in layers:
            sizes[f"{name}.self_attn.w_q.weight"] = (config.d_model, config.d_model)
            sizes[f"{name}.feed_forward.widen.weight"] = (config.d_ff, config.d_model)
        return sizes


def load_weights(model: torch.nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copies weights into a model; names and shapes must all match.  Raises CheckpointError."""
    _check_fit({name: own.shape for name, own in model.state_dict().items()}, weights)
    model.load_state_dict(weights)


def _check_fit(wanted: Mapping[str, Sequence[int]], weights: Mapping[str, Tensor]) -> None:
    missing = sorted(wanted.keys() - weights.keys())
    unexpected = sorted(weights.keys() - wanted.keys())
    other_shape = [
        name for name in wanted.keys() & weights.keys() if wanted[name] != weights[name].shape
    ]
    for problem, names in (
        ("lacks", missing),
        ("has unknown", unexpected),
        ("has other shapes for", sorted(other_shape)),
    ):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise CheckpointError(
                f"the checkpoint {problem} {', '.join(names[:3])}{more}; it is another model's"
            )


def save_checkpoint(
    path: str | Path, checkpoint: Checkpoint, dtype: torch.dtype = torch.float32
) -> None:
    """Writes the file atomically, its weights in `dtype` (float16 halves the file)."""
    save_atomically(
        path,
        {
            "format": FORMAT,
            "config": checkpoint.config.to_dict(),
            "tokenizer": torch.frombuffer(bytearray(checkpoint.tokenizer.model), dtype=torch.uint8),
            "weights": {
                name: weight.detach().cpu().to(dtype) for name, weight in checkpoint.weights.items()
            },
            "step": checkpoint.step,
            "metrics": dict(checkpoint.metrics),
        },
    )


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Reads a file written by `save_checkpoint`; weights come back as float32.

    Raises:
        CheckpointError: missing, damaged, or not a checkpoint of this format.
    """
    content = load_safely(path)
    version = content.get("format")
    is_ours = isinstance(version, int) and version == FORMAT
    if not is_ours or not isinstance(content.get("tokenizer"), Tensor):
        raise CheckpointError(
            f"{path}: not a translator checkpoint of format {FORMAT}; train or install one that is"
        )
    try:
        _check_content(content, Path(path).stat().st_size)
        return Checkpoint(
            config=Config.from_dict(content["config"], source="config"),
            tokenizer=Tokenizer(bytes(content["tokenizer"].tolist())),
            weights={name: weight.float() for name, weight in content["weights"].items()},
            step=content["step"],
            metrics=content["metrics"],
        )
    except (ConfigError, TokenizerError) as error:
        raise CheckpointError(f"{path}: {error}") from None
    except (KeyError, AttributeError, TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(
            f"{path}: incomplete checkpoint ({error}); train or install another"
        ) from None


def _check_content(content: Mapping[str, Any], size: int) -> None:
    """Before anything is made of it.

    Args:
        size: of the file, in bytes; a tensor can say that it is larger than what stands there

    Raises:
        ValueError: what is not plain numbers under plain names, or would need far more memory.
    """
    tokenizer = content["tokenizer"]
    if tokenizer.dtype != torch.uint8 or tokenizer.dim() != 1:
        raise ValueError("its vocabulary is no bytes")
    if len(tokenizer) > MOST_VOCABULARY:
        raise ValueError("its vocabulary is larger than any can be")
    tensors = [tokenizer, *content["weights"].values()]
    claimed = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    if claimed > MOST_SHARED * size:
        raise ValueError("its tensors are larger than the file")
    for name, weight in content["weights"].items():
        if not isinstance(name, str) or not weight.is_floating_point():
            raise ValueError(f"weight {name!r} is none")
        if not weight.float().isfinite().all():  # eight bits know no isfinite
            raise ValueError(f"weight {name!r} has numbers that are not finite")
    if not isinstance(content["step"], int):
        raise ValueError("its step is no whole number")
    if not isinstance(content["metrics"], dict):
        raise ValueError("its metrics are no dictionary")


def find_checkpoint(path: str | Path) -> Path:
    """A checkpoint file as it is, of a run directory its best; "pretrained" is the model inside the
    package.
    """
    if str(path) == "pretrained" and not Path(path).exists():
        return PRETRAINED
    path = Path(path)
    return path / "best.pt" if path.is_dir() else path


def save_atomically(path: str | Path, content: Mapping[str, Any]) -> None:
    """Temporary file in the same folder, flush, fsync, rename: at every moment the target is whole,
    old or new.
    """
    try:
        with replacing(path) as file:
            torch.save(dict(content), file)
    except RuntimeError as error:  # torch's own words over those of a full disk
        reason = error.__context__ if isinstance(error.__context__, OSError) else error
        raise CheckpointError(f"{path}: cannot be written: {reason}") from error


def load_safely(path: str | Path) -> dict[str, Any]:
    """A dictionary of plain values and tensors; a file that is anything else is refused and cannot
    run code.

    Raises:
        CheckpointError: missing, damaged or foreign.
    """
    path = Path(path)
    others = [other.name for other in sorted(path.parent.glob("*.pt")) if other != path]
    beside = [name for name in others if name != "resume.pt"]  # which is no model
    try:
        if path.is_file():
            path.open("rb").close()
    except PermissionError:
        raise CheckpointError(f"{path}: may not be read; change its permissions") from None
    except OSError:
        pass  # said below
    if not path.is_file():
        remedy = f"there is {' and '.join(beside)}" if beside else "train one first"
        if path.name == str(path) and difflib.get_close_matches(path.name, ["pretrained"], 1, 0.9):
            remedy += "; did you mean pretrained?"
        if (path.parent / "model.bin").is_file():
            remedy = "this is an export; name the checkpoint from which it was made"
        if path.name == "best.pt" and "last.pt" in beside:
            remedy += "; best.pt comes with the first validation"
        raise CheckpointError(
            f"{path}: no such checkpoint (working directory: {Path.cwd()}); {remedy}"
        )
    try:
        content = None
        if _is_whole(path):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except Exception:  # a damaged or hostile pickle can raise anything
        content = None
    if not isinstance(content, dict):
        remedy = f"try {' or '.join(beside)} beside it" if beside else "train or install it again"
        if path.suffix != ".pt" and not beside:
            remedy = "a run directory is one, or the .pt file of a training"
        raise CheckpointError(f"{path}: damaged, or not a checkpoint; {remedy}")
    return content


def _is_whole(path: Path) -> bool:
    """Whether every part of the archive has its checksum; and is not packed, as `torch.save` never
    does: a small file could then fill the memory. And whether it holds only plain values.
    """
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked > path.stat().st_size or archive.testzip() is not None:
            return False
        pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        return len(pickles) == 1 and _is_plain(archive.read(pickles[0]))


def _is_plain(pickled: bytes) -> bool:
    """Whether a pickle makes nothing but plain values and tensors that stand in the file; PyTorch
    would also let it ask for a buffer of any size.
    """
    for operation, argument, _ in pickletools.genops(pickled):
        if operation.name in {"STACK_GLOBAL", "INST"}:  # which `torch.save` never writes
            return False
        if operation.name == "GLOBAL" and not _PLAIN.fullmatch(str(argument)):
            return False
    return True
