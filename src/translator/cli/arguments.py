"""The options of every command, without what the commands import."""

import argparse

import translator
from translator.levels import LEVELS


def make_parser() -> argparse.ArgumentParser:
    """Reads a command line; `args.command` names the module that runs it."""
    parser = argparse.ArgumentParser(
        prog="translator", description="Train and use a small English-Korean Transformer."
    )
    parser.add_argument(
        "--version", action="version", version=f"translator {translator.__version__}"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_train(commands.add_parser("train", help="train a model from a config file"))
    _add_translate(commands.add_parser("translate", help="translate English into Korean"))
    _add_evaluate(
        commands.add_parser("evaluate", help="say how good a model is on a file of pairs")
    )
    _add_attention(commands.add_parser("attention", help="show where a translation looked"))
    _add_trace(commands.add_parser("trace", help="show one translation step by step"))
    _add_serve(commands.add_parser("serve", help="a web page and an HTTP API on this computer"))
    _add_export(commands.add_parser("export", help="write a model for another engine"))
    _add_corpus(commands.add_parser("corpus", help="check, report and build the corpus in data/"))
    _add_fetch(commands.add_parser("fetch", help="get public English-Korean text to train on"))
    return parser


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", required=True, metavar="FILE", help="YAML file, for example configs/tiny.yaml"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="replace one setting, for example train.max_steps=100; may be repeated",
    )
    parser.add_argument(
        "--init-from",
        metavar="PATH",
        help="begin with the weights and vocabulary of this checkpoint or run directory, or with "
        '"pretrained"; the same as --set train.init_from=PATH',
    )
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument("--resume", action="store_true", help="continue the run in train.run_dir")
    existing.add_argument(
        "--overwrite", action="store_true", help="replace the run in train.run_dir"
    )


def _add_translate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text", nargs="*", help="English sentences; without any, lines of standard input"
    )
    parser.add_argument(
        "--file",
        metavar="FILE",
        help="translate the lines of a file, one out for one in; of a .srt file the subtitles",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="write there, complete or not at all, instead of to stdout"
    )
    parser.add_argument(
        "--format",
        choices=("text", "tsv", "jsonl"),
        default="text",
        help="text: the translation; tsv: source, translation, score; jsonl: all that is known",
    )
    parser.add_argument(
        "--model",
        metavar="PATH",
        help="checkpoint, run directory or export (default: the model inside the package)",
    )
    _add_style(parser)
    parser.add_argument(
        "--n-best",
        type=_positive,
        metavar="N",
        help="so many translations of each line, the further ones behind tabs",
    )
    _add_search(parser)
    parser.add_argument(
        "--no-cache", action="store_true", help="recompute everything at each step: slow, same text"
    )
    parser.add_argument(
        "--threads",
        type=_positive,
        metavar="N",
        help="processor cores to use (default: one for each physical core, at most 4 for single "
        "sentences)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="say on stderr what computes")


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        required=True,
        nargs="+",
        metavar="FILE",
        help="pairs to judge by: English, tab, Korean, perhaps tab, level",
    )
    models = parser.add_mutually_exclusive_group()
    _add_model(models)
    models.add_argument(
        "--compare", nargs=2, metavar=("A", "B"), help="two models, with a paired test of B over A"
    )
    parser.add_argument(
        "--style", choices=LEVELS, help="speech level to ask for (default: that of each reference)"
    )
    _add_search(parser)
    parser.add_argument(
        "--morphemes",
        action="store_true",
        help="also BLEU over morphemes (needs the extra 'corpus')",
    )
    parser.add_argument(
        "--bootstrap",
        type=_natural,
        default=1000,
        metavar="N",
        help="samples for the confidence intervals; 0: none (default: 1000)",
    )
    parser.add_argument(
        "--robustness",
        action="store_true",
        help="also the same sentences typed carelessly: capitals, no final mark, a letter wrong …",
    )
    parser.add_argument("--json", action="store_true", help="all figures as one JSON object")
    parser.add_argument(
        "--out", metavar="FILE", help="write English, reference, level, translation there"
    )


def _add_attention(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", help="one English sentence")
    parser.add_argument(
        "--kind",
        choices=["cross", "encoder", "decoder"],
        default="cross",
        help="cross: the source pieces that each Korean piece looked at (default); encoder, "
        "decoder: self-attention",
    )
    parser.add_argument(
        "--layer", type=_positive, metavar="N", help="one layer, from 1 (default: mean of all)"
    )
    parser.add_argument(
        "--head", metavar="N", help='one head, from 1, or "all" beside each other (default: mean)'
    )
    parser.add_argument("--words", action="store_true", help="whole words instead of pieces")
    parser.add_argument(
        "--out", metavar="FILE", help="picture .svg or .png (needs the extra 'plot'), or .json"
    )
    parser.add_argument(
        "--font", metavar="FONT", help="for .png: name or file of a font that has Hangul"
    )
    parser.add_argument(
        "--json", action="store_true", help="raw numbers of all layers and heads instead"
    )
    _add_beam_size(parser)
    _add_style(parser)
    _add_model(parser)


def _add_trace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", help="one English sentence")
    parser.add_argument("--json", action="store_true", help="the same as one JSON object")
    _add_style(parser)
    _add_model(parser)


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address to listen on (default: 127.0.0.1, this computer only; 0.0.0.0: all networks)",
    )
    parser.add_argument(
        "--port", type=int, default=5000, metavar="N", help="default: 5000; 0: any free one"
    )
    parser.add_argument(
        "--api-key-file",
        metavar="FILE",
        help="keys, one a line, of which each request must carry one as api_key (or set "
        "TRANSLATOR_API_KEY; default: no key needed)",
    )
    parser.add_argument(
        "--char-limit",
        type=_positive,
        default=2000,
        metavar="N",
        help="characters in one request; more is answered with 413 (default: 2000)",
    )
    parser.add_argument(
        "--max-waiting",
        type=_positive,
        default=256,
        metavar="N",
        help="requests that may wait; the next is answered with 503 (default: 256)",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="web site whose scripts may ask, for example https://example.org; repeatable",
    )
    parser.add_argument("--threads", type=_positive, metavar="N", help="processor cores to use")
    _add_model(parser)


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", default="data/public", metavar="DIR", help="where to write (default: data/public)"
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="some sources: tatoeba, ncsoft"
    )
    parser.add_argument(
        "--remove",
        nargs="+",
        default=[],
        metavar="FILE",
        help="leave out every sentence of these files, such as a test set",
    )
    parser.add_argument(
        "--archive",
        nargs="+",
        default=[],
        metavar="NAME=FILE",
        help="an archive that is already here, for example tatoeba=kor-eng.zip",
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    _add_beam_size(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="another setting of the search, for example decoding.length_penalty=1; repeatable",
    )


def _add_beam_size(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--beam-size",
        type=_positive,
        metavar="K",
        help="hypotheses followed at a time; 1 is greedy",
    )


def _add_style(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--style",
        choices=LEVELS,
        default="formal",
        help="speech level of the Korean (default: formal)",
    )


def _add_model(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--model",
        metavar="PATH",
        help="checkpoint or run directory (default: the model inside the package)",
    )


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", choices=["ctranslate2"], required=True, help="the engine")
    parser.add_argument("--out", required=True, metavar="DIR", help="directory to make")
    _add_model(parser)
    parser.add_argument(
        "--quantization",
        choices=["float32", "int8"],
        default="float32",
        help="int8: a quarter of the size, faster, some texts differ (default: float32)",
    )
    parser.add_argument(
        "--sentences",
        metavar="FILE",
        help="English, one sentence a line, on which export and checkpoint are compared "
        "(default: 200 sentences inside the package)",
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 up, got {text!r}")
    return int(text)


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number from 0 up, got {text!r}")
    return int(text)


def _add_corpus(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", default="data", metavar="DIR", help="the corpus (default: data)")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser(
        "check", help="every line against the rules, splits apart; prints the figures"
    )
    actions.add_parser("report", help="write REPORT.md")
    draw = actions.add_parser("draw", help="draw sentence pairs from the frames into a TSV file")
    draw.add_argument("--out", required=True, metavar="FILE")
    draw.add_argument(
        "--per-frame", type=int, default=30, metavar="N", help="at most (default: 30)"
    )
    draw.add_argument("--levels", default="formal,polite,casual,plain", help="default: all four")
    draw.add_argument(
        "--held-out",
        action="store_true",
        help="the frames by topic, one in twenty, that training never sees",
    )
    draw.add_argument("--seed", type=int, default=1, help="another seed, other pairs (default: 1)")
    actions.add_parser("convert", help="make missing speech levels (needs the extra 'corpus')")
    actions.add_parser("conjugate", help="make conjugations.tsv (needs the extra 'corpus')")
