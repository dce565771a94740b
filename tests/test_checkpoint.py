import inspect
import math
import os
import pickle
import random
import re
import signal
import time
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from conftest import PAIRS, small_config

import translator
from translator.checkpoint import (
    PRETRAINED,
    Checkpoint,
    CheckpointError,
    _is_plain,
    find_checkpoint,
    load_checkpoint,
    load_safely,
    load_weights,
    save_atomically,
    save_checkpoint,
)
from translator.config import TokenizerConfig
from translator.files import remove_leftovers
from translator.inference import Translator
from translator.model.embedding import sinusoidal_positions
from translator.model.transformer import Transformer
from translator.vocabulary import train_tokenizer

TOKENIZER = train_tokenizer([text for pair in PAIRS for text in pair[:2]], TokenizerConfig())


def make_checkpoint() -> Checkpoint:
    torch.manual_seed(0)
    config = small_config("x", "y")
    model = Transformer(config.model, TOKENIZER.vocab_size)
    return Checkpoint(
        config=config,
        tokenizer=TOKENIZER,
        weights=model.state_dict(),
        step=7,
        metrics={"nll": 1.5},
    )


def test_everything_comes_back(tmp_path):
    saved = make_checkpoint()
    save_checkpoint(tmp_path / "model.pt", saved)
    loaded = load_checkpoint(tmp_path / "model.pt")
    assert loaded.config == saved.config
    assert loaded.tokenizer.model == saved.tokenizer.model
    assert (loaded.step, loaded.metrics) == (7, {"nll": 1.5})
    assert loaded.weights.keys() == saved.weights.keys()
    assert all(torch.equal(loaded.weights[k], saved.weights[k]) for k in saved.weights)
    assert not loaded.build_model().training


def test_half_precision_halves_the_file_and_loads_as_float32(tmp_path):
    saved = make_checkpoint()
    save_checkpoint(tmp_path / "full.pt", saved)
    save_checkpoint(tmp_path / "half.pt", saved, dtype=torch.float16)
    loaded = load_checkpoint(tmp_path / "half.pt")
    for name, weight in loaded.weights.items():
        assert weight.dtype == torch.float32
        torch.testing.assert_close(weight, saved.weights[name], atol=1e-3, rtol=1e-3)
    sizes = [(tmp_path / name).stat().st_size for name in ("half.pt", "full.pt")]
    n_weights = sum(w.numel() for w in saved.weights.values())
    assert sizes[1] - sizes[0] == pytest.approx(2 * n_weights, rel=0.1)


class Hostile:
    """Unpickling this would create a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return (Path.touch, (self.marker,))


@pytest.mark.fault("B64")
def test_a_hostile_file_is_refused_and_runs_nothing(tmp_path):
    marker = tmp_path / "marker"
    torch.save({"format": 1, "weights": Hostile(marker)}, tmp_path / "hostile.pt")
    (tmp_path / "bare.pt").write_bytes(pickle.dumps(Hostile(marker)))
    for name in ("hostile.pt", "bare.pt"):
        with pytest.raises(CheckpointError, match=rf"{name}: damaged, or not a checkpoint"):
            load_checkpoint(tmp_path / name)
    assert not marker.exists()


@pytest.mark.fault("B64")
@pytest.mark.parametrize("pickled", [b"\x85.", b"t.", b"K\x01K\x02R.", b"K\x01Q.", b"]}s."])
def test_whatever_a_pickle_raises_is_one_line(tmp_path, pickled):
    whole, odd = tmp_path / "whole.pt", tmp_path / "odd.pt"
    save_checkpoint(whole, make_checkpoint())
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(odd, "w") as new:
        for part in old.infolist():
            data = pickled if part.filename.endswith("data.pkl") else old.read(part)
            new.writestr(part.filename, data)
    with pytest.raises(CheckpointError, match=r"odd\.pt: damaged, or not a checkpoint"):
        load_checkpoint(odd)


@pytest.mark.fault("B64")
def test_a_small_file_cannot_fill_the_memory(tmp_path):
    """A packed archive; tensors that say they are larger than what stands there; large sizes."""
    whole, packed = tmp_path / "whole.pt", tmp_path / "packed.pt"
    saved = make_checkpoint()
    save_checkpoint(whole, saved)
    with (
        zipfile.ZipFile(whole) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.infolist():
            new.writestr(part.filename, old.read(part))
        new.writestr("archive/more", bytes(10_000_000))
    with pytest.raises(CheckpointError, match="damaged, or not a checkpoint"):
        load_checkpoint(packed)
    content = load_safely(whole)
    vocabulary = {"tokenizer": torch.tensor(10**11)}  # bytes(10**11) would be 100 GB
    save_atomically(whole, content | vocabulary)
    with pytest.raises(CheckpointError, match="its vocabulary is no bytes"):
        load_checkpoint(whole)
    content["weights"]["embedding.weight"] = torch.zeros(1).expand(10**12)
    save_atomically(whole, content)
    with pytest.raises(CheckpointError, match="its tensors are larger than the file"):
        load_checkpoint(whole)
    large = saved.config.override(["model.d_model=16384", "model.d_ff=65536"])
    with pytest.raises(CheckpointError, match="has other shapes for"):
        replace(saved, config=large).build_model()


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_layers_that_the_file_lacks_are_never_made(stack, monkeypatch):
    """Only the last of a hundred is there: they would take far more memory than the file has."""
    saved = make_checkpoint()
    last = {
        name.replace(f"{stack}.layers.1.", f"{stack}.layers.99."): weight
        for name, weight in saved.weights.items()
    }
    config = saved.config.override([f"model.n_{stack}_layers=100"])
    monkeypatch.setattr("translator.checkpoint.Transformer", None)
    with pytest.raises(CheckpointError, match=rf"lacks {stack}\.layers\.1\.feed_forward"):
        replace(saved, config=config, weights=last).build_model()


@pytest.mark.parametrize(
    "weight",
    [
        torch.empty(3, device="meta"),
        torch.ones(2, 2).to_sparse(),
        torch.ones(2, dtype=torch.complex64),
        torch.ones(2, dtype=torch.int64),
    ],
    ids=["meta", "sparse", "complex", "whole"],
)
def test_a_weight_is_plain_numbers(tmp_path, weight):
    path = tmp_path / "odd.pt"
    save_checkpoint(path, make_checkpoint())
    content = load_safely(path)
    content["weights"]["embedding.weight"] = weight
    save_atomically(path, content)
    with pytest.raises(CheckpointError, match=r"incomplete checkpoint|damaged"):
        load_checkpoint(path)


@pytest.mark.parametrize(
    "change", [{"step": "\x1b[31m"}, {"metrics": 5}, {"weights": {1: torch.ones(1)}}]
)
def test_what_stands_beside_the_weights_is_looked_at(tmp_path, change):
    path = tmp_path / "odd.pt"
    save_checkpoint(path, make_checkpoint())
    save_atomically(path, {**load_safely(path), **change})
    with pytest.raises(CheckpointError, match="incomplete checkpoint"):
        load_checkpoint(path)


def test_a_built_model_has_weights_of_its_own():
    saved = make_checkpoint()
    one, other = saved.build_model(), saved.build_model()
    with torch.no_grad():
        one.embedding.weight.zero_()
    assert torch.equal(other.embedding.weight, saved.weights["embedding.weight"])
    positions = one.embedding.positions
    assert torch.equal(positions, sinusoidal_positions(*positions.shape))
    assert one.pad_id == 0 and not one.training


@pytest.mark.fault("B64")
def test_our_code_knows_no_unsafe_load():
    unsafe = re.compile(
        r"weights_only\s*=\s*False|pickle\.loads?\(|torch\.load\((?!.*weights_only=True)"
    )
    for path in Path(inspect.getfile(translator)).parent.rglob("*.py"):
        assert not unsafe.search(path.read_text(encoding="utf-8")), path


@pytest.mark.fault("B62")
def test_a_kill_while_saving_leaves_a_whole_file(tmp_path):
    """A child saves again and again and is killed at random moments; what is there always loads."""
    path = tmp_path / "state.pt"
    payload = torch.arange(20_000, dtype=torch.float32)  # small enough for one thread: we fork
    save_atomically(path, {"count": 0, "payload": payload})
    rng = random.Random(0)
    counts = []
    for _ in range(20):
        child = os.fork()
        if child == 0:
            for count in range(1_000_000):
                save_atomically(path, {"count": count, "payload": payload + count})
        time.sleep(rng.uniform(0.002, 0.04))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        content = load_safely(path)
        torch.testing.assert_close(content["payload"], payload + content["count"], atol=0, rtol=0)
        counts.append(content["count"])
    assert max(counts) > 0, "some saves were finished"
    remove_leftovers(tmp_path, "*.pt")
    assert [p.name for p in tmp_path.iterdir()] == ["state.pt"]


@pytest.mark.fault("B62")
def test_an_error_while_saving_leaves_the_older_file(tmp_path):
    path = tmp_path / "state.pt"
    save_atomically(path, {"count": 1})
    with pytest.raises(Exception, match="pickle"):
        save_atomically(path, {"count": lambda: None})
    assert load_safely(path) == {"count": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["state.pt"]


@pytest.mark.fault("B62")
@pytest.mark.parametrize("damage", ["half", "bit", "empty", "text"])
def test_a_damaged_file_is_named_and_a_remedy_offered(tmp_path, damage):
    path = tmp_path / "last.pt"
    save_checkpoint(path, make_checkpoint())
    content = bytearray(path.read_bytes())
    if damage == "bit":
        content[len(content) // 2] ^= 0x10
    broken = {"half": content[: len(content) // 2], "bit": content, "empty": b"", "text": b"hello"}
    path.write_bytes(broken[damage])
    with pytest.raises(CheckpointError, match=r"last\.pt: damaged.*train or install it again"):
        load_checkpoint(path)
    save_checkpoint(tmp_path / "best.pt", make_checkpoint())
    with pytest.raises(CheckpointError, match=r"last\.pt: damaged.*try best\.pt beside it"):
        load_checkpoint(path)


def test_a_missing_or_foreign_file(tmp_path):
    with pytest.raises(CheckpointError, match=r"nowhere\.pt: no such checkpoint"):
        load_checkpoint(tmp_path / "nowhere.pt")
    save_atomically(tmp_path / "foreign.pt", {"model": torch.zeros(2)})
    with pytest.raises(CheckpointError, match="not a translator checkpoint of format 1"):
        load_checkpoint(tmp_path / "foreign.pt")
    saved = make_checkpoint()
    save_atomically(
        tmp_path / "partial.pt",
        {
            "format": 1,
            "config": saved.config.to_dict(),
            "tokenizer": torch.tensor(list(TOKENIZER.model), dtype=torch.uint8),
        },
    )
    with pytest.raises(CheckpointError, match=r"partial\.pt: incomplete checkpoint"):
        load_checkpoint(tmp_path / "partial.pt")


def test_another_format_is_refused(tmp_path):
    path = tmp_path / "model.pt"
    save_checkpoint(path, make_checkpoint())
    content = load_safely(path)
    for change in ({"format": 2}, {"tokenizer": "pieces"}):
        save_atomically(path, {**content, **change})
        with pytest.raises(CheckpointError, match="not a translator checkpoint of format 1"):
            load_checkpoint(path)


def test_a_setting_that_this_version_does_not_know_is_named(tmp_path):
    """A checkpoint of a later version."""
    path = tmp_path / "newer.pt"
    save_checkpoint(path, make_checkpoint())
    content = load_safely(path)
    content["config"]["model"]["colour"] = "blue"
    save_atomically(path, content)
    with pytest.raises(CheckpointError, match=r"newer\.pt: config: unknown key model\.colour"):
        load_checkpoint(path)


def test_weights_must_fit_name_by_name():
    model = Transformer(small_config("x", "y").model, vocab_size=30)
    weights = dict(model.state_dict())
    with pytest.raises(CheckpointError, match=r"lacks embedding\.weight; it is another model's"):
        load_weights(model, {k: w for k, w in weights.items() if k != "embedding.weight"})
    with pytest.raises(CheckpointError, match="has unknown extra"):
        load_weights(model, {**weights, "extra": torch.zeros(1)})
    for names, shown in (("abc", "a, b, c"), ("edcba", "a, b, c and 2 more")):
        with pytest.raises(CheckpointError, match=f"has unknown {shown}; it is another model's"):
            load_weights(model, {**weights, **dict.fromkeys(names, torch.zeros(1))})
    other = Transformer(small_config("x", "y").model, vocab_size=31).state_dict()
    with pytest.raises(CheckpointError, match=r"has other shapes for embedding\.weight"):
        load_weights(model, other)


@pytest.mark.fault("B67")
def test_the_vocabulary_travels_with_the_weights(tmp_path):
    """A checkpoint whose vocabulary has another size than its weights is refused."""
    saved = make_checkpoint()
    other = train_tokenizer(["only a few letters"], TokenizerConfig())
    save_checkpoint(tmp_path / "mixed.pt", replace(saved, tokenizer=other))
    with pytest.raises(CheckpointError, match=r"other shapes for embedding\.weight"):
        load_checkpoint(tmp_path / "mixed.pt").build_model()


def test_a_run_without_a_best_model_names_what_it_has(tmp_path):
    """Stopped before its first validation."""
    save_checkpoint(tmp_path / "last.pt", make_checkpoint())
    (tmp_path / "resume.pt").touch()
    said = r"no such checkpoint .*; there is last\.pt; best\.pt comes with the first validation$"
    with pytest.raises(CheckpointError, match=said):
        load_checkpoint(find_checkpoint(tmp_path))


def test_the_first_validation_is_spoken_of_only_where_it_is_missing(tmp_path):
    with pytest.raises(CheckpointError, match=r"; train one first$"):
        load_safely(tmp_path / "best.pt")
    (tmp_path / "last.pt").touch()
    with pytest.raises(CheckpointError, match=r"; there is last\.pt$"):
        load_safely(tmp_path / "average.pt")


def test_a_file_that_may_not_be_read_is_not_called_damaged(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "best.pt").touch()
    monkeypatch.setattr(Path, "open", refused)  # root may read everything
    with pytest.raises(CheckpointError, match=r"best\.pt: may not be read; change its permissions"):
        load_safely(tmp_path / "best.pt")


def test_a_full_disk_is_said_in_one_line(tmp_path, monkeypatch):
    """torch.save hides the error of the file behind one of its own."""

    def full(*_):
        try:
            raise OSError(28, "No space left on device")
        finally:
            raise RuntimeError("unexpected pos 64 vs 0")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(CheckpointError, match=r"last\.pt: cannot be written: .*No space left"):
        save_checkpoint(tmp_path / "last.pt", make_checkpoint())
    assert list(tmp_path.iterdir()) == []


def test_where_a_checkpoint_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_checkpoint("pretrained") == PRETRAINED
    assert find_checkpoint(tmp_path) == tmp_path / "best.pt"
    assert find_checkpoint("my.pt") == Path("my.pt")
    Path("pretrained").mkdir()  # a run directory of the user's that has this name comes first
    assert find_checkpoint("pretrained") == Path("pretrained") / "best.pt"


def test_what_is_no_checkpoint_at_all_and_a_slip(tmp_path):
    pairs = tmp_path / "my.tsv"
    pairs.write_text("Hi.\t안녕.\n", encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"a run directory is one, or the \.pt file"):
        load_checkpoint(pairs)
    with pytest.raises(CheckpointError, match=r"; did you mean pretrained\?"):
        load_checkpoint("pretraind")
    (tmp_path / "model.bin").touch()
    with pytest.raises(CheckpointError, match="this is an export; name the checkpoint"):
        load_checkpoint(find_checkpoint(tmp_path))
    with pytest.raises(CheckpointError) as error:
        load_checkpoint("mine")
    assert "did you mean" not in str(error.value)


class Buffer:
    """Asks for a gigabyte when it is unpickled, which PyTorch would allow."""

    def __reduce__(self):
        return bytearray, (10**9,)


def test_a_small_file_gets_no_large_buffer(tmp_path):
    path = tmp_path / "small.pt"
    torch.save({"format": 1, "metrics": Buffer()}, path)
    tracemalloc.start()
    with pytest.raises(CheckpointError, match="damaged, or not a checkpoint"):
        load_checkpoint(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10**8


@pytest.mark.parametrize("version", [torch.ones(2), "1", None, [1], 2])
def test_a_format_that_is_no_number_or_another(tmp_path, version):
    path = tmp_path / "odd.pt"
    save_checkpoint(path, make_checkpoint())
    save_atomically(path, {**load_safely(path), "format": version})
    with pytest.raises(CheckpointError, match="not a translator checkpoint of format 1"):
        load_checkpoint(path)


def test_a_vocabulary_larger_than_any(tmp_path):
    path = tmp_path / "odd.pt"
    save_checkpoint(path, make_checkpoint())
    huge = torch.zeros(1, dtype=torch.uint8).expand((1 << 24) + 1)
    save_atomically(
        path, {**load_safely(path), "tokenizer": huge, "weights": {"a": torch.zeros(1 << 23)}}
    )
    with pytest.raises(CheckpointError, match="larger than any can be"):
        load_checkpoint(path)


def test_what_a_pickle_may_name():
    assert _is_plain(pickle.dumps({"a": [1, 2.5, "x", None, True]}, protocol=2))
    for protocol in (2, 4):  # which names things in another way
        assert not _is_plain(pickle.dumps([Buffer()], protocol=protocol))
    assert not _is_plain(b"(cposix\nsystem\n.")
    assert not _is_plain(b"(iposix\nsystem\n.")


def test_pytorch_runs_no_code_either(tmp_path, monkeypatch):
    """The second lock, with the first one open."""
    path = tmp_path / "hostile.pt"

    class Hostile:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    torch.save({"format": 1, "x": Hostile()}, path)
    monkeypatch.setattr("translator.checkpoint._is_plain", lambda _: True)
    with pytest.raises(CheckpointError, match="damaged, or not a checkpoint"):
        load_checkpoint(path)
    assert not (tmp_path / "ran").exists()
    torch.load(path, weights_only=False)
    assert (tmp_path / "ran").exists(), "it would have"


def test_weights_that_are_not_finite(tmp_path):
    checkpoint = make_checkpoint()
    name = "decoder.norm.weight"
    for number in (math.nan, math.inf):
        broken = {**checkpoint.weights, name: checkpoint.weights[name] * number}
        save_checkpoint(tmp_path / "odd.pt", replace(checkpoint, weights=broken))
        with pytest.raises(CheckpointError, match=f"'{name}' has numbers that are not finite"):
            load_checkpoint(tmp_path / "odd.pt")


def test_which_file_does_not_fit(tmp_path):
    checkpoint = make_checkpoint()
    weights = {k: v for k, v in checkpoint.weights.items() if k != "embedding.weight"}
    save_checkpoint(tmp_path / "odd.pt", replace(checkpoint, weights=weights))
    with pytest.raises(CheckpointError, match=r"odd\.pt: the checkpoint lacks embedding\.weight"):
        Translator.from_pretrained(tmp_path / "odd.pt")
    with pytest.raises(CheckpointError, match="no such checkpoint"):
        Translator.from_pretrained("a\0b")


def test_weights_of_eight_bits(tmp_path):
    """PyTorch cannot ask them whether they are finite."""
    save_checkpoint(tmp_path / "small.pt", make_checkpoint(), dtype=torch.float8_e4m3fn)
    assert load_checkpoint(tmp_path / "small.pt").build_model().embedding.weight.isfinite().all()
