import subprocess
import sys

import pytest

from translator.evaluation import EvaluationError, chrf, copy_accuracy


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
        "from translator.evaluation import EvaluationError, chrf, copy_accuracy\n"
        "try: chrf(['a'], ['a'])\n"
        "except EvaluationError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "chrF needs sacrebleu; install it with: pip install 'translator[eval]'\n"


@pytest.mark.fault("B84")
def test_copy_accuracy():
    sources = ["Call 010-1234 at 19:30.", "See https://example.org/a?b=1 now.", "I have 2 dogs."]
    good = [
        "19:30에 010-1234로 전화하세요.",
        "https://example.org/a?b=1 을 보세요.",
        "개가 두 마리.",
    ]
    assert copy_accuracy(sources, good) == (3, 3)
    assert copy_accuracy(sources, good).share == 1
    bad = [good[0].replace("19:30", "9:30"), "보세요.", good[2]]
    assert copy_accuracy(sources, bad) == (1, 3)
    assert copy_accuracy(["Hello."], ["안녕하세요."]).share == 1
    with pytest.raises(EvaluationError, match="1 translations for 3 sources"):
        copy_accuracy(sources, good[:1])
