"""A small corpus, and a model that has really been trained on it, for the tests that need one."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import yaml

from translator.config import Config
from translator.inference import Translator
from translator.model.transformer import Transformer
from translator.trainer import train

if "PYTEST_XDIST_WORKER" in os.environ:  # several tests at a time, so each gets one core
    os.environ["OMP_NUM_THREADS"] = "1"  # also in the processes that it starts: the same sums
    torch.set_num_threads(1)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's "pytest &", and inherited
    signal.signal(signal.SIGINT, signal.default_int_handler)

PAIRS = [
    ("I am a student.", "저는 학생입니다.", "formal"),
    ("I am a student.", "저는 학생이에요.", "polite"),
    ("I am a teacher.", "저는 선생님입니다.", "formal"),
    ("I am a teacher.", "저는 선생님이에요.", "polite"),
    ("Are you a student?", "학생입니까?", "formal"),
    ("Thank you.", "감사합니다.", "formal"),
    ("Thank you.", "고마워요.", "polite"),
    ("Where is the station?", "역이 어디에 있습니까?", "formal"),
    ("Where is the station?", "역이 어디에 있어요?", "polite"),
    ("It is raining.", "비가 옵니다.", "formal"),
    ("It is raining.", "비가 와요.", "polite"),
    ("We ate rice and soup in the kitchen.", "우리는 부엌에서 밥과 국을 먹었습니다.", "formal"),
    ("My name is Anna.", "제 이름은 안나입니다.", "formal"),
    ("My name is Anna.", "제 이름은 안나예요.", "polite"),
]


def write_tsv(path: Path, pairs: list[tuple[str, str, str]] = PAIRS) -> Path:
    path.write_text("".join("\t".join(pair) + "\n" for pair in pairs), encoding="utf-8")
    return path


def small_config(corpus: Path | str, run_dir: Path | str, **train: object) -> Config:
    """A model small enough to train in about a second."""
    return Config.from_dict(
        {
            "model": {
                "d_model": 32,
                "n_heads": 4,
                "n_encoder_layers": 2,
                "n_decoder_layers": 2,
                "d_ff": 64,
                "dropout": 0.0,
                "max_len": 48,
            },
            "tokenizer": {"vocab_size": 1000},
            "data": {"train": [str(corpus)]},
            "train": {
                "run_dir": str(run_dir),
                "max_steps": 10,
                "max_tokens": 256,
                "lr": 5e-3,
                "warmup_steps": 10,
                "log_every": 5,
                "validate_every": 5,
                "n_samples": 1,
                "precision": "fp32",
                **train,
            },
        }
    )


def write_config(config: Config, path: Path) -> Path:
    path.write_text(yaml.safe_dump(config.to_dict(), allow_unicode=True), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    """Some commands set the number of threads of their process; sums depend on it."""
    before = torch.get_num_threads()
    yield
    if torch.get_num_threads() != before:
        torch.set_num_threads(before)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tsv(tmp_path_factory.mktemp("corpus") / "pairs.tsv")


@pytest.fixture(scope="session")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run that has learned PAIRS by heart."""
    run_dir = tmp_path_factory.mktemp("trained") / "run"
    config = small_config(
        corpus, run_dir, max_steps=150, log_every=50, validate_every=150, label_smoothing=0.0
    )
    for _ in train(config):
        pass
    return run_dir


@pytest.fixture(scope="session")
def translator(trained: Path) -> Translator:
    return Translator.from_pretrained(trained)


@pytest.fixture(params=[True, False], ids=["pre-norm", "post-norm"])
def model(request: pytest.FixtureRequest) -> Transformer:
    """An untrained model of 30 tokens, in either order of the norms, in evaluation mode."""
    torch.manual_seed(0)
    config = small_config("unused", "unused").model
    return Transformer(replace(config, norm_first=request.param), vocab_size=30).eval()
