"""What a training run tells whoever watches it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Something worth knowing once: what was dropped, what was built."""

    text: str


@dataclass(frozen=True, kw_only=True)
class StepReport:
    """Means over the optimizer steps since the last report."""

    step: int
    loss: float  # smoothed, nats per target token
    lr: float  # the rate that this step used
    grad_norm: float  # before clipping
    tokens_per_second: float  # real target tokens
    padding: float  # share of padded positions


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sentence, what a person wrote for it, what the model writes now."""

    src: str
    reference: str
    translation: str


@dataclass(frozen=True, kw_only=True)
class ValidationReport:
    """Loss on the dev pairs, and a few translations."""

    step: int
    nll: float | None  # unsmoothed, nats per target token; None without dev pairs
    best: bool
    samples: tuple[Sample, ...]


Event = Note | StepReport | ValidationReport
