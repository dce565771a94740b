"""How the time of our search grows with the length of what it writes.

One source fills a batch, eos is forbidden, and the cap says how many tokens each row writes. With a
cache that need not be moved the exponent is near 1; recomputing everything would make it near 2.
"""

import json
import math
import time
from dataclasses import replace
from typing import Final

import torch

from translator.engine import TorchEngine
from translator.hardware import keep_memory
from translator.inference import Translator
from translators.material import BATCH, arguments, read_material

LENGTHS: Final = (10, 20, 40, 70, 100)
REPEATS: Final = 3
"""Times that each length is tried; the fastest counts."""


def main() -> None:
    """Prints the times and the exponent as JSON."""
    args = arguments(__doc__)
    torch.set_num_threads(args.threads)
    keep_memory()
    material = read_material(args.model)
    translator = Translator.from_pretrained(args.model / "reference")
    options = translator.config.decoding
    engine = TorchEngine(translator.model)
    usual = translator.limits(options)
    batch = [material.sources[len(material.sources) // 2]] * BATCH

    def seconds(length: int) -> float:
        limits = replace(
            usual,
            never=[*usual.never, material.eos],
            length_factor=0.0,
            length_margin=length,
        )
        began = time.perf_counter()
        found = engine.search(batch, [], limits, options, use_cache=True)
        taken = time.perf_counter() - began
        if any(len(best.ids) != length for best, *_ in found):
            raise SystemExit(f"not every row has {length} tokens")
        return taken

    seconds(LENGTHS[0])
    times = {length: min(seconds(length) for _ in range(REPEATS)) for length in LENGTHS}
    print(json.dumps({"seconds": times, "exponent": slope(times), "threads": args.threads}))


def slope(times: dict[int, float]) -> float:
    """Of the line through log time over log length, by least squares."""
    xs, ys = [math.log(n) for n in times], [math.log(t) for t in times.values()]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    covariance = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return covariance / sum((x - mean_x) ** 2 for x in xs)


if __name__ == "__main__":
    main()
