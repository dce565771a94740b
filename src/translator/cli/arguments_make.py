"""The options of the commands that make something: train, export, corpus, fetch."""

import argparse

from translator.cli.options import add_encoding, add_model, add_style, positive


def add_train(parser: argparse.ArgumentParser) -> None:
    """Of `translator train`."""
    parser.add_argument(
        "--config", required=True, metavar="FILE", help="YAML file, for example configs/tiny.yaml"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="replace one setting, for example train.max_steps=100; a list is written as in YAML: "
        "--set 'data.train=[a.tsv, b.tsv]'; may be repeated for other keys; config.py of the "
        "package lists all settings",
    )
    parser.add_argument(
        "--init-from",
        metavar="PATH",
        help="begin with the weights and vocabulary of this checkpoint or run directory, or with "
        '"pretrained"; the same as the setting train.init_from',
    )
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument("--resume", action="store_true", help="continue the run in train.run_dir")
    existing.add_argument(
        "--overwrite", action="store_true", help="replace the run in train.run_dir"
    )


def add_export(parser: argparse.ArgumentParser) -> None:
    """Of `translator export`."""
    parser.add_argument("--to", choices=["ctranslate2"], required=True, help="engine to write for")
    parser.add_argument("--out", required=True, metavar="DIR", help="directory to make")
    add_model(parser)
    parser.add_argument(
        "--quantization",
        choices=["float32", "int8"],
        default="float32",
        help="int8: a quarter of the size, faster, some texts differ (default: float32)",
    )
    add_style(parser, "speech level in which export and checkpoint are compared")
    parser.add_argument(
        "--sentences",
        metavar="FILE",
        help="English, one sentence a line, on which export and checkpoint are compared "
        "(default: 200 sentences inside the package)",
    )


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Of `translator corpus`."""
    _add_data(parser, None)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    read = actions.add_parser(
        "read", help="read files as training would: every row that it drops, and the levels it sees"
    )
    read.add_argument("files", nargs="+", metavar="FILE", help="as in data.train")
    add_encoding(read)
    _add_split(actions.add_parser("split", help="set sentences of your own apart, to judge by"))
    actions.add_parser(
        "check", help="every line against the rules, splits apart; prints the figures"
    )
    actions.add_parser("report", help="write REPORT.md")
    draw = actions.add_parser("draw", help="draw sentence pairs from the frames into a TSV file")
    draw.add_argument(
        "--out", required=True, metavar="FILE", help="TSV file to write: English, Korean, level"
    )
    draw.add_argument(
        "--per-frame",
        type=positive,
        default=30,
        metavar="N",
        help="most pairs of each frame at each level (default: 30)",
    )
    draw.add_argument("--levels", default="formal,polite,casual,plain", help="default: all four")
    draw.add_argument(
        "--held-out",
        action="store_true",
        help="the frames by topic, one in fifteen, that training never sees",
    )
    draw.add_argument(
        "--words", action="store_true", help="and the words of the lexicon by themselves"
    )
    draw.add_argument("--seed", type=int, default=1, help="another seed, other pairs (default: 1)")
    actions.add_parser("convert", help="make missing speech levels (needs the extra 'corpus')")
    actions.add_parser("conjugate", help="make conjugations.tsv (needs the extra 'corpus')")
    for name, action in actions.choices.items():
        action.set_defaults(parser=action)
        if name not in {"read", "split"}:
            _add_data(action, argparse.SUPPRESS)  # so that what stands before it counts too


def _add_split(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="as in data.train")
    parser.add_argument(
        "--size",
        type=positive,
        required=True,
        metavar="N",
        help="English sentences to set apart, each with all its translations and with those that "
        "differ only in case, marks or digits",
    )
    parser.add_argument("--test", required=True, metavar="FILE", help="TSV file to write them to")
    parser.add_argument("--train", required=True, metavar="FILE", help="TSV file for the others")
    parser.add_argument("--seed", type=int, default=1, help="another seed, others (default: 1)")
    add_encoding(parser)


def _add_data(parser: argparse.ArgumentParser, default: str | None) -> None:
    parser.add_argument("--data", default=default, metavar="DIR", help="the corpus (default: data)")


def add_fetch(parser: argparse.ArgumentParser) -> None:
    """Of `translator fetch`."""
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
