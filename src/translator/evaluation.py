"""How good translations are, measured against what people wrote. Needs the extra 'eval'."""

from collections.abc import Sequence

from translator.errors import UserError


class EvaluationError(UserError, ValueError):
    """Translations cannot be judged: a package is missing, or the two sides differ in number."""


def chrf(translations: Sequence[str], references: Sequence[str]) -> float:
    """chrF of a whole set, 0 to 100 (Popović, 2015), as sacrebleu computes it by default.

    Raises:
        EvaluationError: sacrebleu is not installed, or the numbers of sentences differ.
    """
    if len(translations) != len(references):
        raise EvaluationError(
            f"{len(translations)} translations for {len(references)} references; "
            "line n of one must belong to line n of the other"
        )
    try:
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise EvaluationError(
            "chrF needs sacrebleu; install it with: pip install 'translator[eval]'"
        ) from None
    return float(CHRF().corpus_score(list(translations), [list(references)]).score)
