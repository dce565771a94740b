"""`translator attention`: where one translation looked."""

import argparse
import sys
from collections.abc import Sequence

from translator.as_json import looking_as_dict
from translator.cli.model import load_translator
from translator.documents import check_one_sentence
from translator.errors import UserError
from translator.heatmap import Heatmap, as_table
from translator.looking import Kind, Looking
from translator.picture import check_ending, save_picture
from translator.terminal import json_text, printable

ALL = "all"


def run(args: argparse.Namespace) -> None:
    """Prints a table, writes a picture, or prints the raw numbers as JSON."""
    _check(args)
    translator = load_translator(args.model, args.device)
    check_one_sentence(translator, args.text)
    options = translator.config.decoding.asked(args.beam_size)
    [translation] = translator.translate([args.text], args.style, options=options)
    if not translation.ids:
        raise UserError(
            "there is nothing to look at: the translation is empty; try another --style or "
            "--beam-size"
        )
    for warning in translation.warnings:
        print(f"translator: {warning}", file=sys.stderr)
    looking = Looking(translator, args.text, translation, args.style)
    if args.json:
        found = {"text": args.text, "level": args.style, "translation": translation.text}
        print(json_text(found | looking_as_dict(looking)))
        return
    heatmaps = _heatmaps(looking, args)
    print(f"{printable(args.text)} → {translation.text}")
    if args.out is not None:
        for note in save_picture(heatmaps, args.out, args.font):
            print(f"translator: {note}", file=sys.stderr)
        print(f"wrote {args.out}", file=sys.stderr)
        return
    for heatmap in heatmaps:
        print(f"\n{as_table(heatmap)}")


def _check(args: argparse.Namespace) -> None:
    """Before the model is loaded.  Raises UserError: an option that would do nothing."""
    if args.out is not None:
        check_ending(args.out)
    if args.font is not None and not (args.out or "").lower().endswith(".png"):
        raise UserError(f"--font {args.font}: only a picture .png takes a font; leave it out")
    given = {"--kind": args.kind, "--layer": args.layer, "--head": args.head}
    without_effect = [option for option, value in given.items() if value is not None]
    without_effect += ["--words"] * args.words
    if args.json and without_effect:
        raise UserError(
            f"{', '.join(without_effect)}: --json has the pieces of all kinds, layers and heads; "
            "leave one of the two out"
        )


def _heatmaps(looking: Looking, args: argparse.Namespace) -> list[Heatmap]:
    """One map, or one for each layer and head that was asked for."""
    kind: Kind = args.kind or "cross"
    n_layers, n_heads = looking.weights(kind).shape[:2]
    layers = _numbers("--layer", args.layer, n_layers)
    heads = _numbers("--head", args.head, n_heads)
    return [
        looking.heatmap(kind, layer, head, words=args.words) for layer in layers for head in heads
    ]


def _numbers(option: str, given: str | None, count: int) -> Sequence[int | None]:
    """Those that one option asks for; None is the mean of all."""
    if given is None:
        return [None]
    if given == ALL:
        return range(1, count + 1)
    try:
        return [int(given)]
    except ValueError:
        raise UserError(f'{option} {given}: expected a number or "all"') from None
