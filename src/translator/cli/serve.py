"""`translator serve`: the page and the HTTP API."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

import torch

from translator.cli.model import load_translator
from translator.cli.options import search_options, setting_name
from translator.errors import UserError, lacks
from translator.hardware import keep_memory

KEY_VARIABLE = "TRANSLATOR_API_KEY"
SWITCH_INTERVAL = 0.001
"""How often, in seconds, Python lets the thread that answers and the one that translates change
places; its default of 5 ms cost 32 clients a quarter of their throughput.
"""
WITHOUT_EFFECT = {
    "decoding.n_best": "each request says how many it wants",
    "decoding.too_long": "a server always splits",
}
"""Settings of the search that are not this command's to choose, and why."""


def run(args: argparse.Namespace) -> None:
    """Serves until Ctrl-C."""
    try:
        from translator.server.answering import Answers
        from translator.server.app import app_of
        from translator.server.guard import origins_as_sent
        from translator.server.keys import Keys
        from translator.server.limits import Limits
        from translator.server.running import address_of, listen, serve
    except ImportError as error:
        raise UserError(lacks(f"serve needs {error.name}", "serve")) from None
    if args.api_key_file is not None:
        keys = Keys.from_file(args.api_key_file)
    else:
        keys = Keys.from_environment(KEY_VARIABLE)
    _check_settings(args.set)
    origins = origins_as_sent(args.allow_origin)
    with listen(args.host, args.port) as listener:
        if args.threads is not None:
            torch.set_num_threads(args.threads)
        keep_memory()
        sys.setswitchinterval(SWITCH_INTERVAL)
        model = load_translator(args.model, args.device)
        decoding = search_options(model.config, args, n_best=1)
        model.config = replace(model.config, decoding=decoding)  # for traces as for translations
        model.translate(["Hello."])  # lays the weights out before anybody waits for it
        limits = Limits(characters=args.char_limit, waiting=args.max_waiting)
        answers = Answers(model, limits, args.style)
        app = app_of(answers, keys, origins)
        address = address_of(listener)
        told = f"translator: {address} (page), {address}/docs (API); Ctrl-C ends"
        serve(app, limits, listener, lambda: print(told, file=sys.stderr, flush=True), answers.stop)


def _check_settings(assignments: Sequence[str]) -> None:
    for assignment in assignments:
        why = WITHOUT_EFFECT.get(setting_name(assignment))
        if why is not None:
            raise UserError(f"--set {assignment}: {why}; leave it out")
