import subprocess
import sys

import pytest

from translator.evaluation import EvaluationError, chrf


def test_chrf_is_sacrebleus():
    sacrebleu = pytest.importorskip("sacrebleu")
    found, wanted = ["저는 학생입니다.", "비가 와요."], ["저는 학생입니다.", "비가 옵니다."]
    assert chrf(found, wanted) == sacrebleu.corpus_chrf(found, [wanted]).score
    assert chrf(wanted, wanted) == pytest.approx(100)


def test_both_sides_are_counted_first():
    with pytest.raises(EvaluationError, match="1 translations for 2 references"):
        chrf(["가"], ["가", "나"])


def test_without_the_package_it_says_what_to_install():
    code = (
        "import sys; sys.modules['sacrebleu'] = None\n"
        "from translator.evaluation import EvaluationError, chrf\n"
        "try: chrf(['a'], ['a'])\n"
        "except EvaluationError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "chrF needs sacrebleu; install it with: pip install 'translator[eval]'\n"
