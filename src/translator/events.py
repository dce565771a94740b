"""What a training run tells whoever watches it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Something worth knowing once: what was dropped, what was built."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Started:
    """The corpus is ready and the first step of this process comes next."""

    step: int  # done already; above 0 in a resumed run
    n_parameters: int  # all of them are trained
    hardware: str  # device and number format


@dataclass(frozen=True, kw_only=True)
class StepReport:
    """Means over the optimizer steps since the last report."""

    step: int
    loss: float  # smoothed, nats per target token
    lr: float  # the rate that this step used
    grad_norm: float  # before clipping
    tokens_per_second: float  # real target tokens
    padding: float  # share of padded positions
    waiting: float  # share of the time spent waiting for the next batch
    skipped: int  # steps whose gradient was not finite and changed nothing
    seconds_left: float  # to max_steps at this speed


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sentence, what a person wrote for it, what the model writes now at the same level."""

    src: str
    level: str
    reference: str
    translation: str


@dataclass(frozen=True, kw_only=True)
class ValidationReport:
    """How good the model is on the dev pairs, and a few translations."""

    step: int
    nll: float | None  # unsmoothed, nats per target token; None without dev pairs
    chrf: float | None  # 0 to 100; None unless it is what decides
    best: bool  # so far; without dev pairs each one is
    saved: bool  # False when the weights have gone wrong
    samples: tuple[Sample, ...]

    @property
    def metrics(self) -> dict[str, float]:
        """The values that there are, by name."""
        named = {"nll": self.nll, "chrf": self.chrf}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """The run was asked to stop, and can be resumed from here."""

    step: int


Event = Note | Started | StepReport | ValidationReport | Stopped
