"""`translator train`: shows the events of a run, a bar on a terminal and plain lines in a log."""

import argparse
import sys

from tqdm import tqdm

from translator.config import Config
from translator.events import Event, Note, StepReport
from translator.trainer import train


def run(args: argparse.Namespace) -> None:
    """Trains, or resumes; everything it shows goes to stderr."""
    config = Config.from_yaml(args.config, args.set)
    total = config.train.max_steps
    on_terminal = sys.stderr.isatty()
    with tqdm(
        total=total, file=sys.stderr, disable=not on_terminal, unit="step", dynamic_ncols=True
    ) as bar:
        for event in train(config, resume=args.resume, overwrite=args.overwrite):
            if on_terminal and isinstance(event, StepReport):
                bar.update(event.step - bar.n)
                bar.set_postfix_str(_progress(event))
                continue
            for line in _lines(event, total):
                tqdm.write(line, file=sys.stderr)
    print(f"done: {config.train.run_dir}", file=sys.stderr)


def _lines(event: Event, total: int) -> list[str]:
    if isinstance(event, Note):
        return [event.text]
    if isinstance(event, StepReport):
        return [f"step {event.step}/{total}  {_progress(event)}"]
    judged = (
        ""
        if event.nll is None
        else f"  dev nll {event.nll:.4f}{' (best so far)' if event.best else ''}"
    )
    lines = [f"step {event.step}/{total}{judged}  saved"]
    for sample in event.samples:
        lines += [f"    {sample.src}", f"    = {sample.reference}", f"    > {sample.translation}"]
    return lines


def _progress(event: StepReport) -> str:
    return (
        f"loss {event.loss:.4f}  lr {event.lr:.2e}  grad {event.grad_norm:.2f}  "
        f"{event.tokens_per_second:,.0f} tokens/s  padding {event.padding:.0%}"
    )
