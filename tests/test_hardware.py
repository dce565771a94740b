import warnings

import pytest
import torch

from translator import hardware
from translator.hardware import (
    HardwareError,
    Precision,
    choose_device,
    has_fast_bfloat16,
    keep_memory,
)

CPU = torch.device("cpu")


def test_devices():
    assert choose_device("cpu") == CPU
    assert choose_device("auto").type in {"cpu", "cuda"}
    for name in ("gpu", "cuda:99", "meta", ""):
        with pytest.raises(HardwareError, match=r"train\.device: "):
            choose_device(name)


def test_auto_is_bfloat16_where_the_processor_has_it(monkeypatch):
    for fast, dtype in ((True, torch.bfloat16), (False, torch.float32)):
        monkeypatch.setattr(hardware, "has_fast_bfloat16", lambda _, fast=fast: fast)
        assert Precision.choose("auto", CPU).dtype == dtype
        assert Precision.choose("fp32", CPU).dtype == torch.float32
        assert Precision.choose("bf16", CPU).dtype == torch.bfloat16


@pytest.mark.parametrize("name", ["avx512_bf16", "amx_bf16", "neither"])
def test_the_processor_is_asked(monkeypatch, name):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {name: True, "avx2": True})
    assert has_fast_bfloat16(CPU) == (name != "neither")


@pytest.mark.fault("B54")
@pytest.mark.parametrize("setting", ["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_every_format_on_every_device(setting, device):
    """fp16 is for CUDA alone and has a scaler there; the others have none; nothing warns."""
    if device == "cuda" and not torch.cuda.is_available():
        found = Precision.choose(setting, torch.device("cuda"))
        assert (
            found.dtype
            == {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[setting]
        )
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if (setting, device) == ("fp16", "cpu"):
            with pytest.raises(HardwareError, match="fp16 is for CUDA, this device is cpu"):
                Precision.choose(setting, torch.device(device))
            return
        precision = Precision.choose(setting, torch.device(device))
        x = torch.ones(2, 2, device=device)
        with precision.autocast():
            assert (x @ x).dtype == precision.dtype
        assert precision.scaler().is_enabled() == (setting == "fp16")


def test_keeping_memory_harms_nobody():
    keep_memory()
    keep_memory()
    assert torch.ones(3_000_000).sum() == 3_000_000


def test_under_torchrun_a_process_takes_its_own_gpu(monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "2")
    assert choose_device("cpu") == CPU
    with pytest.raises(HardwareError, match=r"'cuda:0' would put all processes on one GPU"):
        choose_device("cuda:0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(HardwareError, match=r"process 2 has no GPU of its own, there are 2"):
        choose_device("auto")


def test_bfloat16_that_is_emulated_is_said(monkeypatch):
    for fast, said in ((True, "as set)"), (False, "no instructions for it here)")):
        monkeypatch.setattr(hardware, "has_fast_bfloat16", lambda _, fast=fast: fast)
        assert str(Precision.choose("bf16", CPU)).endswith(said)
