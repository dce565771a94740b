"""How good translations are. What compares them with other texts needs the extra 'eval'."""

from collections.abc import Sequence
from typing import NamedTuple

from translator.copying import items, lost
from translator.errors import UserError


class EvaluationError(UserError, ValueError):
    """Translations cannot be judged: a package is missing, or the two sides differ in number."""


def chrf(translations: Sequence[str], references: Sequence[str]) -> float:
    """chrF of a whole set, 0 to 100 (Popović, 2015), as sacrebleu computes it by default.

    Raises:
        EvaluationError: sacrebleu is not installed, or the numbers of sentences differ.
    """
    _check_same_number(translations, references, "references")
    try:
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise EvaluationError(
            "chrF needs sacrebleu; install it with: pip install 'translator[eval]'"
        ) from None
    return float(CHRF().corpus_score(list(translations), [list(references)]).score)


class CopyAccuracy(NamedTuple):
    """How many addresses and numbers of the sources the translations carry over."""

    kept: int
    total: int

    @property
    def share(self) -> float:
        """0 to 1; 1 when there is nothing to carry over."""
        return self.kept / self.total if self.total else 1.0


def copy_accuracy(sources: Sequence[str], translations: Sequence[str]) -> CopyAccuracy:
    """Counts what has to stay as it is (`copying.items`) and does.

    Raises:
        EvaluationError: the numbers of sentences differ.
    """
    _check_same_number(translations, sources, "sources")
    total = sum(len(items(source)) for source in sources)
    pairs = zip(sources, translations, strict=True)
    return CopyAccuracy(total - sum(len(lost(*pair)) for pair in pairs), total)


def _check_same_number(translations: Sequence[str], others: Sequence[str], name: str) -> None:
    if len(translations) != len(others):
        raise EvaluationError(
            f"{len(translations)} translations for {len(others)} {name}; "
            "line n of one must belong to line n of the other"
        )
