"""Corpus scores that compare translations with references, all by sacrebleu (the extra 'eval')."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from translator.errors import UserError, lacks

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

METRICS: Final = ("chrF", "chrF++", "BLEU")
MORPHEMES: Final = "BLEU, morphemes"


class EvaluationError(UserError, ValueError):
    """Translations cannot be judged: a package is missing, or the two sides differ in number."""


class Score(NamedTuple):
    """One figure of a whole set, 0 to 100."""

    metric: str
    value: float
    margin: float | None  # half the 95 % confidence interval, from bootstrap resampling
    signature: str  # says how it was computed, for comparing with figures of others


class Comparison(NamedTuple):
    """One figure of two systems on the same sentences."""

    metric: str
    first: float
    second: float
    p_value: float  # chance of such a difference between equals, by paired bootstrap resampling


def check_available(metrics: Sequence[str] = METRICS) -> None:
    """For those who want to know before the work is done.

    Raises:
        EvaluationError: a package that these metrics need is missing.
    """
    _metrics(metrics)
    if MORPHEMES in metrics:
        _kiwi_class()


def chrf(translations: Sequence[str], references: Sequence[str]) -> float:
    """chrF of a whole set, 0 to 100 (Popović, 2015), as sacrebleu computes it by default.

    Raises:
        EvaluationError: sacrebleu is not installed, or the numbers of sentences differ.
    """
    check_same_number(translations, references, "references")
    [score] = scores(translations, references, ["chrF"], n_bootstrap=0)
    return score.value


def scores(
    translations: Sequence[str],
    references: Sequence[str],
    metrics: Sequence[str] = METRICS,
    n_bootstrap: int = 1000,
) -> list[Score]:
    """Several figures of one set, in the order of `metrics`.

    Args:
        metrics: of METRICS, and MORPHEMES, which needs kiwipiepy (the extra 'corpus')
        n_bootstrap: samples for the confidence intervals; 0 or 1 computes none

    Raises:
        EvaluationError: a package is missing, or the numbers of sentences differ.
    """
    check_same_number(translations, references, "references")
    found = []
    for name, metric in _metrics(metrics).items():
        texts, wanted = _prepared(name, translations, references)
        result = metric.corpus_score(texts, [wanted], n_bootstrap=max(n_bootstrap, 1))
        margin = float(result._ci) if n_bootstrap > 1 else None
        found.append(Score(name, float(result.score), margin, str(metric.get_signature())))
    return found


def compare(
    first: Sequence[str],
    second: Sequence[str],
    references: Sequence[str],
    metrics: Sequence[str] = METRICS,
    n_samples: int = 1000,
) -> list[Comparison]:
    """Whether two systems differ more than chance explains (Koehn, 2004).

    Args:
        n_samples: of the paired bootstrap, at least 1

    Raises:
        EvaluationError: a package is missing, there are no samples, or the numbers of sentences
            differ.
    """
    check_same_number(first, references, "references")
    check_same_number(second, references, "references")
    if n_samples < 1:  # of which sacrebleu would make 1000
        raise EvaluationError("a paired test needs samples; give it at least 1")
    found = []
    for name, metric in _metrics(metrics).items():
        from sacrebleu.significance import PairedTest

        one_side, other_side, wanted = _prepared(name, first, second, references)
        systems: list[tuple[str, Sequence[str]]]
        systems = [("first", one_side), ("second", other_side)]
        _, results = PairedTest(systems, {name: metric}, [wanted], "bs", n_samples)()
        [[one, other]] = [result for key, result in results.items() if key != "System"]
        assert not isinstance(one, str) and not isinstance(other, str)
        assert other.p_value is not None
        # of two that wrote the same, sacrebleu says that they differ
        p_value = 1.0 if list(first) == list(second) else float(other.p_value)
        found.append(Comparison(name, one.score, other.score, p_value))
    return found


def check_same_number(translations: Sequence[str], others: Sequence[str], name: str) -> None:
    """Raises EvaluationError: something is no text, or line n of one cannot belong to line n of the
    other. (sacrebleu gives two translations of one reference a perfect score.)
    """
    for texts in (translations, others):
        odd = [type(text).__name__ for text in texts if not isinstance(text, str)]
        if isinstance(texts, str) or odd:
            found = f"one with {odd[0]} in it" if odd else "one text"
            raise EvaluationError(f"expected a list of texts, got {found}; one reference each")
    if len(translations) != len(others):
        raise EvaluationError(
            f"{len(translations)} translations for {len(others)} {name}; "
            "line n of one must belong to line n of the other"
        )


def _metrics(names: Sequence[str]) -> Mapping[str, "Metric"]:
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise EvaluationError(lacks("scores need sacrebleu", "eval")) from None
    made: dict[str, Callable[[], Metric]] = {
        "chrF": CHRF,
        "chrF++": lambda: CHRF(word_order=2),
        "BLEU": lambda: BLEU(tokenize="char"),
        # else sacrebleu takes " ." at the end for text that somebody forgot to join again
        MORPHEMES: lambda: BLEU(tokenize="none", force=True),
    }
    return {name: made[name]() for name in names}


def _prepared(metric: str, *sides: Sequence[str]) -> list[list[str]]:
    """Texts as the metric counts them: composed, for they may come from anywhere, and for MORPHEMES
    cut. All sides at once, because the analyser takes a second to load.
    """
    composed = [[unicodedata.normalize("NFC", text) for text in texts] for texts in sides]
    if metric != MORPHEMES:
        return composed
    kiwi = _kiwi_class()()
    return [
        [" ".join(token.form for token in tokens) for tokens in kiwi.tokenize(texts)]
        for texts in composed
    ]


def _kiwi_class() -> Any:
    """The morphological analyser of kiwipiepy.  Raises EvaluationError: it is not installed."""
    try:
        from kiwipiepy import Kiwi
    except ImportError:
        raise EvaluationError(lacks("morphemes need kiwipiepy", "corpus")) from None
    return Kiwi
