"""The weights that every participant of the translation benchmark gets, and what it translates.

A small model trains on so few pairs that it knows them by heart; then outputs are of natural
length, and the best token is so far ahead that number formats and libraries write the same.

reference/        the run; its best.pt is the checkpoint
weights.pt        the same weights by name and the table of positions, for the peers
float32, int8     the exports for CTranslate2
material.json     the sources as ids in ascending length, the vocabulary, the first sentence as text
"""

import argparse
import json
import random
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import torch
from participants.measuring import SEED
from participants.ours import configuration

from translator.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from translator.config import Config
from translator.export import export_model
from translator.files import write_lines
from translator.inference import Translator
from translator.levels import LEVELS
from translator.model.transformer import Transformer
from translator.pairs import Pair, Report, read_pairs
from translator.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Tokenizer
from translator.trainer import train

N_PAIRS: Final = 500
LEVEL: Final = "formal"
STEPS: Final = 300
MAX_TOKENS: Final = 1024
"""Of a batch: many small steps learn by heart faster than few large ones."""
LEARNING_RATE: Final = 7e-4
WARMUP_STEPS: Final = 100


def main() -> None:
    """Trains, exports, writes the files and prints, as JSON, how well the pairs are known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder written by preparation.py")
    parser.add_argument("--out", type=Path, required=True, help="folder for the files")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    tokenizer = load_checkpoint(args.data / "start.pt").tokenizer
    pairs = choose(list(read_pairs([str(args.data / "pairs.tsv")], Report())))
    checkpoint = memorise(pairs, tokenizer, args.out)
    model = checkpoint.build_model()
    weights = {**checkpoint.weights, "positions": model.embedding.positions}
    torch.save(weights, args.out / "weights.pt")
    texts = [pair.src for pair in pairs]
    for quantization in ("float32", "int8"):
        shutil.rmtree(args.out / quantization, ignore_errors=True)
        export_model(checkpoint, args.out / quantization, quantization, texts[:50])
    known = Translator(model, tokenizer, checkpoint.config).translate(texts, style=LEVEL)
    right = sum(found.text == pair.tgt for found, pair in zip(known, pairs, strict=True))
    n_tokens = sum(len(found.ids) + found.finished for found in known)
    _write_material(args.out / "material.json", pairs, tokenizer)
    size = {"sentences": len(pairs), "vocabulary": tokenizer.vocab_size}
    known_by_heart = {"reproduced": right / len(pairs), "mean_tokens": n_tokens / len(pairs)}
    summary = json.dumps({**size, **known_by_heart})
    (args.out / "summary.json").write_text(summary, encoding="utf-8")
    print(summary)


def choose(pairs: Sequence[Pair]) -> list[Pair]:
    """A sample of one speech level, every English sentence once."""
    distinct = {pair.src: pair for pair in pairs if pair.level == LEVEL}
    return random.Random(SEED).sample(list(distinct.values()), N_PAIRS)


def memorise(pairs: Sequence[Pair], tokenizer: Tokenizer, out: Path) -> Checkpoint:
    """Trains on these pairs alone, post-norm and without dropout."""
    write_lines(out / "pairs.tsv", ("\t".join(pair) for pair in pairs))
    config = settings(out)
    torch.manual_seed(SEED)
    model = Transformer(config.model, tokenizer.vocab_size, PAD_ID)
    start = Checkpoint(
        config=config, tokenizer=tokenizer, weights=model.state_dict(), step=0, metrics={}
    )
    save_checkpoint(out / "start.pt", start)
    for _event in train(config, overwrite=True):  # of an earlier attempt that did not end
        pass
    return load_checkpoint(out / "reference" / "best.pt")


def settings(out: Path) -> Config:
    """The sizes of the benchmark. Hugging Face Marian knows no other order of the norms."""
    config = configuration(out, out / "reference", STEPS, "fp32")
    return replace(
        config,
        model=replace(config.model, norm_first=False, dropout=0.0),
        train=replace(
            config.train,
            max_steps=STEPS,
            max_tokens=MAX_TOKENS,
            lr=LEARNING_RATE,
            warmup_steps=WARMUP_STEPS,
            label_smoothing=0.0,
            precision="auto",
            validate_every=STEPS,
        ),
    )


def _write_material(path: Path, pairs: Sequence[Pair], tokenizer: Tokenizer) -> None:
    sources = sorted((tokenizer.encode_source(pair.src, LEVEL) for pair in pairs), key=len)
    material = {
        "first_text": min(
            (pair.src for pair in pairs), key=lambda text: len(tokenizer.encode(text))
        ),
        "sources": sources,
        "pieces": tokenizer.pieces(range(tokenizer.vocab_size)),
        "tags": [tokenizer.tag(level) for level in LEVELS],
        "never": tokenizer.never_generated,
        "pad": PAD_ID,
        "unk": UNK_ID,
        "bos": BOS_ID,
        "eos": EOS_ID,
    }
    path.write_text(json.dumps(material, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
