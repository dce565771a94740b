"""Two processes on one machine, started by torchrun as a user would."""

import json
import os
import subprocess
import sys

import pytest
import torch
from conftest import PAIRS, small_config, write_config, write_tsv

from translator.checkpoint import load_checkpoint
from translator.distributed import Workers
from translator.errors import UserError
from translator.trainer import train

CPU = torch.device("cpu")
pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed"
)


def torchrun(config, path, *options, processes=2, program=()):
    """The training of `config` in several processes.  -> what they wrote"""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(processes), *(program or ("-m", "translator"))]
    command += ["train", "--config", str(write_config(config, path)), *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=environment
    )


def close(a, b):
    """Adding a number to all keys changes no attention, so the gradient of a key's bias is nothing
    but rounding, which AdamW blows up: those may differ.
    """
    names = [name for name in a if not name.endswith("w_k.bias")]
    return all(torch.allclose(a[name], b[name], rtol=1e-4, atol=1e-6) for name in names)


@pytest.mark.fault("B49")
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_two_processes_make_the_same_update_as_one(corpus, tmp_path, optimizer):
    """Batches of unequal size, the last group of an epoch not full: 2 × 1 equals 1 × 2."""
    settings = ["train.max_tokens=40", "data.dev_size=2", "data.weights=1"]
    settings += [f"train.optimizer={optimizer}"]
    two = small_config(corpus, tmp_path / "two").override(settings)
    done = torchrun(two, tmp_path / "two.yaml")
    assert done.returncode == 0, done.stderr
    one = small_config(corpus, tmp_path / "one", accumulate=2).override(settings)
    list(train(one))
    found = [load_checkpoint(tmp_path / name / "last.pt").weights for name in ("one", "two")]
    assert close(*found)
    reports = [
        [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("one", "two")
    ]
    for a, b in zip(*reports, strict=True):
        assert a["kind"] == b["kind"] and a["step"] == b["step"]
        for key in {"loss", "nll", "grad_norm"} & a.keys():
            assert a[key] == pytest.approx(b[key], rel=1e-4)


@pytest.mark.fault("B89")
@pytest.mark.parametrize("n_pairs", [1, 7])
def test_few_pairs_and_more_processes_than_batches(tmp_path, n_pairs):
    corpus = write_tsv(tmp_path / "few.tsv", PAIRS[:n_pairs])
    config = small_config(corpus, tmp_path / "run", max_tokens=4096, max_steps=5)
    done = torchrun(config, tmp_path / "c.yaml")
    assert done.returncode == 0, done.stderr
    alone = small_config(corpus, tmp_path / "alone", max_tokens=4096, max_steps=5)
    list(train(alone))
    found = [load_checkpoint(tmp_path / name / "last.pt").weights for name in ("run", "alone")]
    assert close(*found)


@pytest.mark.fault("B92")
def test_only_the_first_process_tells_and_all_leave_together(corpus, tmp_path):
    config = small_config(corpus, tmp_path / "run").override(["model.dropout=0.2"])
    whole = torchrun(config, tmp_path / "c.yaml")
    assert whole.returncode == 0, whole.stderr
    assert whole.stderr.count("step 5/10  loss") == 1
    assert whole.stderr.count("done: ") == 1
    parts = config.override([f"train.run_dir={tmp_path / 'parts'}"])
    assert (
        torchrun(
            parts.override(["train.max_steps=5", "train.schedule=inverse_sqrt"]),
            tmp_path / "c.yaml",
        ).returncode
        == 0
    )
    refused = None
    try:
        list(train(parts.override(["train.schedule=inverse_sqrt"]), resume=True))
    except Exception as error:  # the message is what counts
        refused = str(error)
    assert refused is not None and "stopped with 2 processes, not 1" in refused


@pytest.mark.fault("B59")
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_resumed_in_two_processes_equals_uninterrupted(corpus, tmp_path, optimizer):
    """Each process has its own dropout, and finds back to it."""
    settings = ["model.dropout=0.3", "train.max_tokens=40", "train.schedule=inverse_sqrt"]
    settings += [f"train.optimizer={optimizer}"]
    whole = small_config(corpus, tmp_path / "whole").override(settings)
    parts = small_config(corpus, tmp_path / "parts").override(settings)
    assert torchrun(whole, tmp_path / "c.yaml").returncode == 0
    first = parts.override(["train.max_steps=5"])
    assert torchrun(first, tmp_path / "c.yaml").returncode == 0
    done = torchrun(parts, tmp_path / "c.yaml", "--resume")
    assert done.returncode == 0, done.stderr
    found = [load_checkpoint(tmp_path / name / "last.pt").weights for name in ("whole", "parts")]
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])


@pytest.mark.fault("B92")
def test_a_failure_of_one_process_ends_all(corpus, tmp_path):
    """The first process cannot save; the second, which waits for it, does not wait for long."""
    program = tmp_path / "broken.py"
    program.write_text(
        "import sys\n"
        "from translator import trainer\n"
        "from translator.cli import main\n"
        "from translator.errors import UserError\n"
        "def broken(*_):\n"
        "    raise UserError('the disk is full')\n"
        "trainer.save_checkpoint = broken\n"
        "sys.exit(main())\n"
    )
    config = small_config(corpus, tmp_path / "run")
    done = torchrun(config, tmp_path / "c.yaml", program=(str(program),))
    assert done.returncode != 0
    assert "the disk is full" in done.stderr


def test_a_world_without_addresses_is_said_in_one_line(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(UserError, match=r"WORLD_SIZE is set, but .*; start with torchrun"):
        Workers.join(CPU)


def test_work_is_shared_whatever_its_amount(tmp_path):
    """One row for two processes, and three."""
    program = tmp_path / "share.py"
    program.write_text(
        "import torch\n"
        "from translator.distributed import Workers, leave\n"
        "workers = Workers.join(torch.device('cpu'))\n"
        "for n in (1, 3):\n"
        "    rows = torch.arange(2.0 * n).view(2, n).T\n"
        "    done = []\n"
        "    got = workers.share(rows, lambda own: done.append(len(own)) or own * 10)\n"
        "    assert torch.equal(got, rows * 10) and sum(done) < 3, (got, done)\n"
        "ranks = workers.gather(workers.rank)\n"
        "if workers.first:\n"  # lines of two processes may run into each other
        "    print('shared', ranks)\n"
        "leave()\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", "2", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "shared [0, 1]\n"


def test_alone_nothing_is_set_up():
    workers = Workers.join(CPU)
    assert workers == Workers(0, 1) and workers.first
    workers.meet()
    assert workers.add(1.0, 2.5, device=CPU) == [1.0, 2.5]
    assert workers.from_first("value") == "value"
    assert workers.gather("value") == ["value"]
    assert workers.share(torch.ones(3, 2), torch.neg).tolist() == [[-1, -1]] * 3
    module = torch.nn.Linear(1, 1)
    assert workers.wrap(module) is module
    assert not torch.distributed.is_initialized()


def test_on_gpus_each_process_makes_its_own_the_current_one(monkeypatch):
    """Objects and barriers travel through the current GPU, which is else the first for all."""
    said = []
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.distributed, "init_process_group", lambda *a, **_: said.append(a[0]))
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", said.append)
    assert Workers.join(torch.device("cuda", 1)) == Workers(1, 2)
    assert said == [torch.device("cuda", 1), "nccl"]
    said.clear()
    Workers.join(CPU)
    assert said == ["gloo"]
