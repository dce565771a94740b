"""The training loop. It yields what happens as events, prints nothing, and can be stopped and
resumed.
"""

import itertools
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from translator.batches import Batch, TokenBatchSampler, TokenStore, collate, encode_pairs
from translator.checkpoint import (
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    load_weights,
    save_checkpoint,
)
from translator.config import Config
from translator.errors import UserError
from translator.events import Event, Note, Sample, StepReport, ValidationReport
from translator.inference import Translator
from translator.loss import LossSums, loss_sums
from translator.model.transformer import Transformer
from translator.noise import noisy_copies
from translator.optim import learning_rate, make_optimizer, set_learning_rate
from translator.pairs import DataError, Pair, Report, read_pairs, split_dev
from translator.run_dir import RunDirectory
from translator.tokenizer import PAD_ID, Tokenizer, train_tokenizer


def train(config: Config, *, resume: bool = False, overwrite: bool = False) -> Iterator[Event]:
    """Runs, or resumes, the training that `config` describes; yields its events as they happen.

    Raises:
        UserError: anything that the user can mend, before the first step where possible.
    """
    run_dir = RunDirectory(config.train.run_dir)
    if not resume:
        run_dir.check_free(overwrite)
    state = run_dir.load_state(config) if resume else None
    corpus = _read_corpus(config)
    yield from map(Note, corpus.notes)
    if state is None:
        tokenizer = train_tokenizer(
            (text for pair in corpus.train for text in pair[:2]), config.tokenizer
        )
        yield _vocabulary_note(tokenizer, config, corpus.dev)
    else:
        tokenizer = load_checkpoint(run_dir.last).tokenizer
    run_dir.prepare()
    stores = []
    for name, pairs in (("train", corpus.train), ("dev", corpus.dev)):
        report = Report()
        max_len, max_tokens = config.model.max_len, config.train.max_tokens
        encoded = encode_pairs(pairs, tokenizer, max_len, max_tokens, report)
        stores.append(TokenStore.build(run_dir.tokens / name, encoded))
        yield from (Note(f"{name}: {line}") for line in [*report.lines(), f"{report.kept} pairs"])
        if report.dropped and not report.kept:
            raise DataError(f"data.{name}: no pair is short enough; {'; '.join(report.lines())}")
    material = _Material(stores[0], stores[1], _samples(corpus, tokenizer, config))
    run = _Run(config, run_dir, tokenizer, material)
    if state is None:
        run_dir.clear()
    else:
        run.restore(state)
    yield from run.events()


@dataclass(frozen=True)
class _Corpus:
    """What a run learns from, what it is judged on, and what reading it had to say."""

    train: Sequence[Pair]
    dev: Sequence[Pair]
    notes: Sequence[str]


def _read_corpus(config: Config) -> _Corpus:
    data, report = config.data, Report()
    if not data.train:
        raise DataError("data.train: name at least one corpus file")
    pairs = list(read_pairs(data.train, report, data.encoding))
    if not pairs:
        raise DataError(
            f"{', '.join(data.train)}: no usable pair; "
            + ("; ".join(report.lines()) or "nothing in it")
        )
    train_pairs, dev_pairs = split_dev(pairs, data.dev_size, config.train.seed)
    if data.dev:
        dev_pairs = list(read_pairs(data.dev, report, data.encoding))
        if not dev_pairs:
            raise DataError(f"{', '.join(data.dev)}: no usable pair to judge by")
    train_pairs += noisy_copies(train_pairs, data.noise, config.train.seed)
    levels = Counter(pair.level for pair in train_pairs)
    shown = ", ".join(f"{level} {count}" for level, count in levels.most_common())
    return _Corpus(train_pairs, dev_pairs, [*report.lines(), f"speech levels: {shown}"])


def _samples(corpus: _Corpus, tokenizer: Tokenizer, config: Config) -> Sequence[Pair]:
    """The first sentences of dev, else of train, that the model can take."""
    fitting = (
        pair
        for pair in corpus.dev or corpus.train
        if len(tokenizer.encode_source(pair.src, pair.level)) <= config.model.max_len
    )
    return list(itertools.islice(fitting, config.train.n_samples))


def _vocabulary_note(tokenizer: Tokenizer, config: Config, dev: Sequence[Pair]) -> Note:
    text = f"vocabulary: {tokenizer.vocab_size} pieces"
    if tokenizer.vocab_size < config.tokenizer.vocab_size:
        text += f" (all that the corpus gives; the ceiling is {config.tokenizer.vocab_size})"
    if dev:
        share = tokenizer.share_in_bytes(pair.tgt for pair in dev)
        text += f"; {share:.2%} of the Korean dev pieces are spelled in bytes"
    return Note(text)


class _Material(NamedTuple):
    """The corpus as a run uses it."""

    train: TokenStore
    dev: TokenStore  # may be empty
    samples: Sequence[Pair]


class _Run:
    """Model, optimizer and position of one run."""

    def __init__(
        self,
        config: Config,
        run_dir: RunDirectory,
        tokenizer: Tokenizer,
        material: _Material,
    ) -> None:
        torch.manual_seed(config.train.seed)
        self.config = config
        self.run_dir = run_dir
        self.tokenizer = tokenizer
        self.material = material
        self.model = Transformer(config.model, tokenizer.vocab_size, PAD_ID)
        self.optimizer = make_optimizer(self.model, config.train)
        self.step = 0
        self.best_nll = math.inf

    def events(self) -> Iterator[Event]:
        """Steps until max_steps, counted from the very beginning of the run."""
        settings = self.config.train
        n_parameters = sum(parameter.numel() for parameter in self.model.parameters())
        yield Note(f"model: {n_parameters / 1e6:.2f} million parameters")
        if self.step >= settings.max_steps:
            done = f"{self.step} of {settings.max_steps} steps"
            yield Note(f"already done: {done}; raise train.max_steps to go on")
            return
        window = _Window()
        for group in self._batch_groups():
            window.add(self._optimize(group))
            last = self.step == settings.max_steps
            if last or self.step % settings.log_every == 0:
                report = window.report(self.step)
                self.run_dir.record(report)
                yield report
                window = _Window()
            if last or self.step % settings.validate_every == 0:
                validation = self._validate()
                self.run_dir.record(validation)
                self._save(validation)
                yield validation
                window = _Window()

    def _batch_groups(self) -> Iterator[list[Batch]]:
        """The batches of each remaining step. Where to go on follows from the step alone."""
        store, settings = self.material.train, self.config.train
        sampler = TokenBatchSampler(store.lengths(), settings.max_tokens, settings.seed)
        step, epoch = 0, 0
        while step < settings.max_steps:
            batches = sampler.batches(epoch)
            for start in range(0, len(batches), settings.accumulate):
                step += 1
                if self.step < step <= settings.max_steps:
                    group = batches[start : start + settings.accumulate]
                    yield [collate([store[i] for i in indices]) for indices in group]
            epoch += 1

    def _optimize(self, group: Sequence[Batch]) -> "_StepResult":
        """One optimizer step over the sum of several batches, divided once by all their tokens."""
        assert self.model.training, "validation must give back training mode"
        settings = self.config.train
        rate = learning_rate(self.step + 1, settings)
        set_learning_rate(self.optimizer, rate)
        n_tokens = sum(batch.n_tokens for batch in group)
        self.optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for batch in group:
            sums = self._loss(batch, settings.label_smoothing)
            (sums.loss / n_tokens).backward()  # type: ignore[no-untyped-call]
            total += float(sums.loss.detach())
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip_norm or math.inf)
        if not (math.isfinite(total) and math.isfinite(norm)):
            raise UserError(
                f"{self.run_dir.path}: loss or gradient is not finite at step {self.step + 1} "
                f"(lr {rate:.2e}); lower train.lr or raise train.warmup_steps"
            )
        self.optimizer.step()
        self.step += 1
        padding = sum(batch.padding for batch in group) / len(group)
        return _StepResult(total, n_tokens, rate, float(norm), padding)

    def _loss(self, batch: Batch, label_smoothing: float) -> LossSums:
        """States are compared with the vocabulary at real positions only."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.config.train.precision == "bf16"):
            hidden = self.model.hidden(batch.src, batch.tgt_in)  # (B, T, D)
            logits = self.model.embedding.logits(hidden[batch.real])  # (N, V)
        return loss_sums(logits, batch.tgt_out[batch.real], label_smoothing)

    def _validate(self) -> ValidationReport:
        with evaluating(self.model):
            nll = self._mean_nll(self.material.dev) if len(self.material.dev) else None
            translator = Translator(self.model, self.tokenizer, self.config)
            samples = [
                Sample(
                    src=src, reference=tgt, translation=translator.translate([src], level)[0].text
                )
                for src, tgt, level in self.material.samples
            ]
        best = nll is None or nll < self.best_nll  # a tie keeps the older
        if nll is not None and best:
            self.best_nll = nll
        return ValidationReport(step=self.step, nll=nll, best=best, samples=tuple(samples))

    def _mean_nll(self, store: TokenStore) -> float:
        """The sum over all real tokens divided once: the same for any batch size and order."""
        sampler = TokenBatchSampler(
            store.lengths(), self.config.train.max_tokens, self.config.train.seed
        )
        total, n_tokens = 0.0, 0
        for indices in sampler.batches(0):
            sums = self._loss(collate([store[i] for i in indices]), label_smoothing=0.0)
            total += float(sums.nll)
            n_tokens += sums.n_tokens
        return total / n_tokens

    def _save(self, validation: ValidationReport) -> None:
        """The state for resuming comes last: what it counts as saved has been saved."""
        checkpoint = Checkpoint(
            config=self.config,
            tokenizer=self.tokenizer,
            weights=self.model.state_dict(),
            step=self.step,
            metrics={} if validation.nll is None else {"nll": validation.nll},
        )
        save_checkpoint(self.run_dir.last, checkpoint)
        if validation.best:
            save_checkpoint(self.run_dir.best, checkpoint)
        state = {
            "step": self.step,
            "best_nll": self.best_nll,
            "weights": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "vocabulary": self.tokenizer.fingerprint,
            "data": self.material.train.fingerprint,
        }
        self.run_dir.save_state(self.config, state)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes back to a saved state.  Raises CheckpointError when it belongs to another
        vocabulary.
        """
        if state["vocabulary"] != self.tokenizer.fingerprint:
            raise CheckpointError(
                f"{self.run_dir.path}: last.pt has the vocabulary {self.tokenizer.fingerprint}, "
                f"resume.pt was trained with {state['vocabulary']}; start a new run_dir"
            )
        if state["data"] != self.material.train.fingerprint:
            raise UserError(
                f"{self.run_dir.path}: the corpus has changed since the run was stopped; "
                "put it back, or start a new run_dir"
            )
        load_weights(self.model, state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.best_nll = state["step"], state["best_nll"]
        torch.set_rng_state(state["random"])


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


@dataclass(frozen=True)
class _StepResult:
    loss: float
    n_tokens: int
    lr: float
    grad_norm: float
    padding: float


class _Window:
    """Means over the steps between two reports."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._results: list[_StepResult] = []

    def add(self, result: _StepResult) -> None:
        self._results.append(result)

    def report(self, step: int) -> StepReport:
        n_steps, n_tokens = len(self._results), sum(result.n_tokens for result in self._results)
        return StepReport(
            step=step,
            loss=sum(result.loss for result in self._results) / n_tokens,
            lr=self._results[-1].lr,
            grad_norm=sum(result.grad_norm for result in self._results) / n_steps,
            tokens_per_second=n_tokens / (time.perf_counter() - self._started),
            padding=sum(result.padding for result in self._results) / n_steps,
        )
