"""`translator attention`: where one translation looked."""

import argparse
import json
import sys
from dataclasses import replace

from translator.checkpoint import PRETRAINED
from translator.documents import check_one_sentence
from translator.errors import UserError
from translator.heatmap import Heatmap, as_table, printable
from translator.inference import Translator
from translator.looking import Looking
from translator.picture import check_ending, save_picture
from translator.plain import looking_as_dict

ALL = "all"


def run(args: argparse.Namespace) -> None:
    """Prints a table, writes a picture, or prints the raw numbers as JSON."""
    if args.out is not None:
        check_ending(args.out)
    translator = Translator.from_pretrained(PRETRAINED if args.model is None else args.model)
    check_one_sentence(translator, args.text)
    options = translator.config.decoding
    if args.beam_size is not None:
        options = replace(options, beam_size=args.beam_size, n_best=1)
    [translation] = translator.translate([args.text], args.style, options=options)
    if not translation.ids:
        raise UserError("there is nothing to look at: the translation is empty")
    for warning in translation.warnings:
        print(f"translator: {warning}", file=sys.stderr)
    looking = Looking(translator, args.text, translation, args.style)
    if args.json:
        found = {"text": args.text, "style": args.style, "translation": translation.text}
        print(json.dumps(found | looking_as_dict(looking), ensure_ascii=False))
        return
    heatmaps = _heatmaps(looking, args)
    print(f"{printable(args.text)} → {translation.text}")
    if args.out is not None:
        for note in save_picture(heatmaps, args.out, args.font):
            print(f"translator: {note}", file=sys.stderr)
        return
    for heatmap in heatmaps:
        print(f"\n{as_table(heatmap)}")


def _heatmaps(looking: Looking, args: argparse.Namespace) -> list[Heatmap]:
    """One map, or one for each head."""
    if args.head != ALL:
        head = None if args.head is None else _number(args.head)
        return [looking.heatmap(args.kind, args.layer, head, words=args.words)]
    n_heads = looking.weights(args.kind).size(1)
    return [
        looking.heatmap(args.kind, args.layer, head, words=args.words)
        for head in range(1, n_heads + 1)
    ]


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UserError(f'--head {text}: expected a number or "all"') from None
