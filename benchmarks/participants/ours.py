"""This project's trainer, run as `translator train` runs it.

Which batches it trains on follows from the settings alone, so counting.py has counted them before.
"""

import json
import math
import statistics
from pathlib import Path

from participants.measuring import (
    CLIP_NORM,
    D_FF,
    D_MODEL,
    DROPOUT,
    LABEL_SMOOTHING,
    MAX_LEN,
    MAX_TOKENS,
    N_HEADS,
    N_LAYERS,
    SEED,
    VOCAB_SIZE,
    WARMUP,
    Dtype,
    Result,
    StepClock,
    arguments,
)
from translator.config import Config, DataConfig, ModelConfig, TokenizerConfig, TrainConfig
from translator.events import StepReport
from translator.trainer import train


def configuration(data: Path, work: Path, steps: int, dtype: Dtype) -> Config:
    """The run of the benchmark. Vocabulary and first weights come from a file, as for the peers."""
    return Config(
        model=ModelConfig(
            d_model=D_MODEL,
            n_heads=N_HEADS,
            n_encoder_layers=N_LAYERS,
            n_decoder_layers=N_LAYERS,
            d_ff=D_FF,
            dropout=DROPOUT,
            max_len=MAX_LEN,
        ),
        tokenizer=TokenizerConfig(vocab_size=VOCAB_SIZE),
        data=DataConfig(train=(str(data / "pairs.tsv"),)),
        train=TrainConfig(
            run_dir=str(work),
            init_from=str(data / "start.pt"),
            seed=SEED,
            max_steps=WARMUP + steps,
            max_tokens=MAX_TOKENS,
            label_smoothing=LABEL_SMOOTHING,
            clip_norm=CLIP_NORM,
            device="cpu",
            precision=dtype,
            log_every=WARMUP,
            validate_every=WARMUP + steps,
            n_samples=0,
        ),
    )


def main() -> None:
    """Trains for the steps asked for and prints what was measured."""
    args = arguments(__doc__)
    counted = json.loads((args.data / "counted.json").read_text(encoding="utf-8"))
    with StepClock(args.steps) as clock:
        events = list(train(configuration(args.data, args.work, args.steps, args.dtype)))
    warmup, *timed = [event for event in events if isinstance(event, StepReport)]
    padding = statistics.fmean(report.padding for report in timed)
    if not math.isclose(padding, counted["mean_padding"], rel_tol=1e-6):
        raise SystemExit("trained on other batches than counting.py has counted")
    Result(
        name="ours",
        dtype=args.dtype,
        target_tokens=counted["target_tokens"],
        seconds=clock.seconds,
        padding=counted["padding"],
        peak_rss_mb=clock.peak_rss_mb,
        loss_first=warmup.loss,
        loss_last=timed[-1].loss,
        flops_per_second=counted["flops"] / clock.seconds,
        self_reported=statistics.fmean(report.tokens_per_second for report in timed),
        parameters=clock.parameters,
    ).print()


if __name__ == "__main__":
    main()
