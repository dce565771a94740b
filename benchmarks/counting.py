"""What our trainer computes in the timed steps: tokens, padding, floating-point operations.

It goes through the same batches once, untimed, and writes counted.json beside the corpus. Counted
are the matrix products of forward and backward pass, attention as its formula writes it: PyTorch
cannot look into the fused attention of a CPU. The number format does not change the count.
"""

import argparse
import json
import statistics
from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeVar

from participants.measuring import LABEL_SMOOTHING, WARMUP, BatchCounter
from participants.ours import configuration
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from translator.batches import Batch
from translator.checkpoint import load_checkpoint
from translator.distributed import Workers
from translator.feed import Feed
from translator.objective import Objective
from translator.preparation import prepare
from translator.run_dir import RunDirectory
from translator.tokenizer import PAD_ID

Returned = TypeVar("Returned")


def main() -> None:
    """Counts and writes; prints the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder written by preparation.py")
    parser.add_argument("--work", type=Path, required=True, help="new folder for its own files")
    parser.add_argument("--steps", type=int, required=True, help="optimizer steps that are timed")
    args = parser.parse_args()
    counted = json.dumps(count(args.data, args.work, args.steps))
    (args.data / "counted.json").write_text(counted, encoding="utf-8")
    print(counted)


def count(data: Path, work: Path, steps: int) -> dict[str, float]:
    """The figures of the timed steps."""
    config = configuration(data, work, steps, "fp32")
    start = load_checkpoint(data / "start.pt")
    run_dir = RunDirectory(work)
    material = _returned(prepare(config, run_dir, start.tokenizer))
    run_dir.release()
    objective = Objective(start.build_model().train())
    counter = BatchCounter(steps)
    paddings: list[float] = []
    flops = 0
    for step, group in enumerate(Feed(config, material, Workers()).after(0), 1):
        [batch] = group.batches
        source_tokens = int((batch.src != PAD_ID).sum())
        counter.add(source_tokens, batch.n_tokens, batch.src.numel() + batch.tgt_out.numel())
        if step > WARMUP:
            paddings.append(batch.padding)
            flops += _flops(objective, batch)
    return {
        "target_tokens": counter.target_tokens,
        "padding": counter.padding,
        "mean_padding": statistics.fmean(paddings),  # what the trainer's own reports come to
        "flops": flops,
    }


def _flops(objective: Objective, batch: Batch) -> int:
    """Operations of one forward and backward pass; a multiplication and an addition are two."""
    objective.zero_grad(set_to_none=True)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        objective(batch, LABEL_SMOOTHING).loss.backward()
    return counter.get_total_flops()


def _returned(generator: Generator[Any, None, Returned]) -> Returned:
    """What a generator returns when all that it yields has been passed over."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            value: Returned = end.value
            return value


if __name__ == "__main__":
    main()
