"""How good a model is on the dev pairs, in the middle of its training."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import nn

from translator.batches import TokenBatchSampler, collate
from translator.config import Config
from translator.documents import asked_level, translate_pairs
from translator.events import Sample, ValidationReport
from translator.hardware import Precision
from translator.inference import Translator
from translator.metrics import chrf
from translator.model.transformer import Transformer
from translator.objective import Objective
from translator.preparation import Material
from translator.store import TokenStore


@dataclass(frozen=True)
class Scores:
    """Loss and, if it is what decides, chrF on the dev pairs; None without dev pairs."""

    nll: float | None  # nats per target token
    chrf: float | None  # 0 to 100
    samples: tuple[Sample, ...]

    def of(self, metric: str) -> float | None:
        """The value of "nll" or "chrf"."""
        return self.chrf if metric == "chrf" else self.nll

    def report(self, step: int, *, best: bool, saved: bool) -> ValidationReport:
        """The same as an event of the run."""
        return ValidationReport(
            step=step, nll=self.nll, chrf=self.chrf, best=best, saved=saved, samples=self.samples
        )


def check_judge(config: Config) -> None:
    """Raises EvaluationError: chrF is to decide, and what computes it is not installed."""
    if config.train.judge == "chrf":
        chrf(["가"], ["가"])


def score(model: Transformer, material: Material, config: Config, precision: Precision) -> Scores:
    """Judges the model as it is now; it is in its former mode again afterwards."""
    with evaluating(model):
        dev = material.dev
        nll = _mean_nll(model, dev, config, precision) if len(dev) else None
        translator = Translator(model, material.tokenizer, config)
        options = replace(config.decoding, too_long="split")
        lines = translate_pairs(translator, material.samples, options)
        samples = tuple(
            Sample(src=pair.src, level=asked_level(pair), reference=pair.tgt, translation=line.text)
            for pair, line in zip(material.samples, lines, strict=True)
        )
        found = None
        if config.train.judge == "chrf" and len(dev):
            lines = translate_pairs(translator, material.dev_pairs, options)
            found = chrf([line.text for line in lines], [pair.tgt for pair in material.dev_pairs])
    return Scores(nll, found, samples)


def _mean_nll(model: Transformer, store: TokenStore, config: Config, precision: Precision) -> float:
    """The sum over all real tokens divided once: the same for any batch size and order."""
    settings, total, n_tokens = config.train, 0.0, 0
    sampler = TokenBatchSampler(store.lengths, [len(store)], settings.max_tokens, settings.seed)
    objective = Objective(model)
    for indices in sampler.batches(0):
        batch = collate([store[i] for i in indices]).to(precision.device)
        with precision.autocast():
            sums = objective(batch, 0.0)
        total += float(sums.nll)
        n_tokens += sums.n_tokens
    return total / n_tokens


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """No dropout and no gradients inside; the mode from before comes back, whatever happens."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)
