"""This project's translator: the search that `translator translate` runs, without its tokenizer."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from translator.engine import TorchEngine
from translator.hardware import keep_memory
from translator.inference import Translator
from translators.material import Ids, arguments, read_material, run


def main() -> None:
    """Translates and prints what was measured."""
    args = arguments(__doc__, forms=("fp32", "bf16", "int8"))
    torch.set_num_threads(args.threads)
    keep_memory()
    material = read_material(args.model)
    translator = Translator.from_pretrained(args.model / "reference")
    engine = TorchEngine(translator.model)
    options = replace(translator.config.decoding, precision=args.dtype)
    limits = translator.limits(options)

    def search(batch: Sequence[Ids]) -> list[list[int]]:
        found = engine.search(batch, [], limits, options, use_cache=True)
        return [best.ids for best, *_ in found]

    run(material, search, args, {"torch": str(torch.__version__)})


if __name__ == "__main__":
    main()
