"""The options of `translator serve`."""

import argparse

from translator.cli.options import (
    add_device,
    add_model,
    add_search,
    add_style,
    add_threads,
    positive,
)
from translator.server.limits import Limits


def add_serve(parser: argparse.ArgumentParser) -> None:
    """Address, keys, limits, model, and how it translates."""
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
        type=positive,
        default=Limits.characters,
        metavar="N",
        help=f"characters in one request; more is answered with 413 (default: {Limits.characters})",
    )
    parser.add_argument(
        "--max-waiting",
        type=positive,
        default=Limits.waiting,
        metavar="N",
        help=f"requests that may wait; the next is answered with 503 (default: {Limits.waiting})",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="web site whose scripts may ask, for example https://example.org; repeatable",
    )
    add_threads(parser, "one for each physical core")
    add_model(parser, "checkpoint, run directory or export")
    add_device(parser)
    add_style(parser, "speech level of the Korean where a request names none")
    add_search(parser)
