"""CTranslate2 on the exported weights, without PyTorch in its process: two pools of threads would
disturb each other.
"""

import sys
from collections.abc import Sequence

import ctranslate2

from translators.material import Ids, arguments, most_tokens, read_material, run


def main() -> None:
    """Translates and prints what was measured."""
    args = arguments(__doc__, forms=("float32", "int8"))
    material = read_material(args.model)
    translator = ctranslate2.Translator(
        str(args.model / args.dtype),
        device="cpu",
        compute_type=args.dtype,
        inter_threads=1,
        intra_threads=args.threads,
    )
    numbers = {piece: number for number, piece in enumerate(material.pieces)}
    never = [[material.pieces[number]] for number in material.never]

    def search(batch: Sequence[Ids]) -> list[list[int]]:
        results = translator.translate_batch(
            [[material.pieces[number] for number in ids] for ids in batch],
            beam_size=1,
            max_decoding_length=most_tokens(batch),
            max_input_length=0,
            suppress_sequences=never,
        )
        return [[numbers[piece] for piece in result.hypotheses[0]] for result in results]

    run(material, search, args, {"ctranslate2": ctranslate2.__version__})
    if "torch" in sys.modules:
        raise SystemExit("PyTorch was imported beside CTranslate2")


if __name__ == "__main__":
    main()
