"""One corpus and one vocabulary for every participant of the training benchmark.

pairs.tsv      what our trainer reads
start.pt       its vocabulary and first weights, so that no measured process trains a vocabulary
train.{en,ko}  the same pairs in the same pieces, a space between two, for the peers; the source
               begins with the tag of the speech level, as ours does
dev.{en,ko}    the first of them, only because JoeyNMT asks for such files
vocab.txt      the same pieces in the order of the peers' ids: unk, pad, bos, eos, as JoeyNMT wants
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import torch
from participants.measuring import MAX_LEN, SEED, WARMUP
from participants.ours import configuration

from translator.checkpoint import Checkpoint, save_checkpoint
from translator.config import Config
from translator.files import write_lines
from translator.model.transformer import Transformer
from translator.pairs import Pair, Report, read_pairs
from translator.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Tokenizer
from translator.vocabulary import train_tokenizer


def main() -> None:
    """Writes the files and prints, as JSON, how large the corpus is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the files")
    parser.add_argument("entries", nargs="+", help="TSV files or patterns, as in data.train")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    config = configuration(args.out, args.out / "run", WARMUP, "fp32")
    report = Report()
    pairs = list(read_pairs(args.entries, report))
    texts = (text for pair in pairs for text in (pair.src, pair.tgt))
    tokenizer = train_tokenizer(texts, config.tokenizer)
    fitting = [pair for pair in pairs if _fits(pair, tokenizer)]
    write_lines(args.out / "pairs.tsv", ("\t".join(pair) for pair in fitting))
    _write_start(args.out / "start.pt", config, tokenizer)
    _write_pieces(args.out, fitting, tokenizer)
    dropped = len(pairs) - len(fitting) + sum(report.dropped.values())
    size = {"pairs": len(fitting), "dropped": dropped}
    print(json.dumps({**size, "vocabulary": tokenizer.vocab_size}))


def _fits(pair: Pair, tokenizer: Tokenizer) -> bool:
    sides = (tokenizer.encode_source(pair.src, pair.level), tokenizer.encode_target(pair.tgt))
    return max(map(len, sides)) <= MAX_LEN


def _write_start(path: Path, config: Config, tokenizer: Tokenizer) -> None:
    torch.manual_seed(SEED)
    model = Transformer(config.model, tokenizer.vocab_size, PAD_ID)
    checkpoint = Checkpoint(
        config=config, tokenizer=tokenizer, weights=model.state_dict(), step=0, metrics={}
    )
    save_checkpoint(path, checkpoint)


def _write_pieces(directory: Path, pairs: Sequence[Pair], tokenizer: Tokenizer) -> None:
    """The peers add eos themselves."""
    sources = [tokenizer.encode_source(pair.src, pair.level)[:-1] for pair in pairs]
    targets = [tokenizer.encode_target(pair.tgt)[:-1] for pair in pairs]
    for language, side in (("en", sources), ("ko", targets)):
        lines = [" ".join(tokenizer.pieces(ids)) for ids in side]
        write_lines(directory / f"train.{language}", lines)
        write_lines(directory / f"dev.{language}", lines[:20])
    special = [UNK_ID, PAD_ID, BOS_ID, EOS_ID]
    others = [number for number in range(tokenizer.vocab_size) if number not in special]
    write_lines(directory / "vocab.txt", tokenizer.pieces([*special, *others]))


if __name__ == "__main__":
    main()
