"""How many floating-point operations a second this machine reaches in its best matrix product."""

import argparse
import json
import time
from typing import Final

import torch

SIZE: Final = 2048
SECONDS: Final = 4.0
"""How long each number format is tried; the fastest single product counts."""


def main() -> None:
    """Measures both formats with the threads that the environment allows; prints JSON."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    found = {"fp32": best(torch.float32), "bf16": best(torch.bfloat16)}
    where = {"cpu": torch.backends.cpu.get_cpu_capability(), "threads": torch.get_num_threads()}
    print(json.dumps({**found, **where, "torch": str(torch.__version__)}))


def best(dtype: torch.dtype) -> float:
    """Operations a second of the fastest of many products."""
    left, right = (torch.randn(SIZE, SIZE).to(dtype) for _ in range(2))
    out = torch.mm(left, right)  # the first one also chooses the kernel
    fastest = float("inf")
    end = time.perf_counter() + SECONDS
    while True:
        start = time.perf_counter()
        torch.mm(left, right, out=out)
        now = time.perf_counter()
        fastest = min(fastest, now - start)
        if now >= end:
            return 2 * SIZE**3 / fastest


if __name__ == "__main__":
    main()
