import subprocess
import sys
import types
import unicodedata

import pytest

from translator.metrics import (
    METRICS,
    MORPHEMES,
    EvaluationError,
    check_available,
    chrf,
    compare,
    scores,
)

FOUND, WANTED = ["저는 학생입니다.", "비가 와요."], ["저는 학생입니다.", "비가 옵니다."]


def test_chrf_is_sacrebleus():
    sacrebleu = pytest.importorskip("sacrebleu")
    assert chrf(FOUND, WANTED) == sacrebleu.corpus_chrf(FOUND, [WANTED]).score
    assert chrf(WANTED, WANTED) == pytest.approx(100)


def test_scores_have_signatures_and_margins():
    sacrebleu = pytest.importorskip("sacrebleu")
    pytest.importorskip("numpy")
    found = scores(FOUND * 20, WANTED * 20, n_bootstrap=50)
    assert [figure.metric for figure in found] == list(METRICS)
    one, two, three = found
    assert one.value == pytest.approx(sacrebleu.corpus_chrf(FOUND * 20, [WANTED * 20]).score)
    assert "nw:2" in two.signature and "tok:char" in three.signature
    assert all(figure.margin > 0 and "bs:50" in figure.signature for figure in found)
    [without] = scores(FOUND, WANTED, ["chrF"], n_bootstrap=0)
    assert without.margin is None and "bs:" not in without.signature


def test_morphemes_are_kiwis():
    pytest.importorskip("sacrebleu")
    pytest.importorskip("kiwipiepy")
    [found] = scores(["학생이 갔다"] * 3, ["학생은 갔다"] * 3, [MORPHEMES], n_bootstrap=0)
    # 학생 이 가 었 다: 4 of 5 single ones, 2 of 4 runs of two, 1 of 3 of three, smoothed of four
    assert found.value == pytest.approx(100 * (4 / 5 * 2 / 4 * 1 / 3 * 0.5 / 6) ** 0.25, abs=0.1)
    assert "tok:none" in found.signature


def test_a_comparison_is_paired():
    pytest.importorskip("sacrebleu")
    pytest.importorskip("numpy")
    better = compare(FOUND * 30, WANTED * 30, WANTED * 30, ["chrF"], n_samples=200)
    [found] = better
    assert found.second > found.first and found.p_value < 0.05
    [same] = compare(FOUND * 30, FOUND * 30, WANTED * 30, ["chrF"], n_samples=200)
    assert same.first == same.second and same.p_value > 0.5
    with pytest.raises(EvaluationError, match="2 translations for 1 references"):
        compare(FOUND[:1], FOUND, WANTED[:1])
    with pytest.raises(EvaluationError, match="a paired test needs samples"):
        compare(FOUND, FOUND, WANTED, n_samples=0)


@pytest.fixture
def kiwis(monkeypatch):
    """An analyser that cuts at the last character, and how often it was loaded."""
    loaded = []

    class Kiwi:
        def __init__(self):
            loaded.append(self)

        def tokenize(self, texts):
            for text in texts:
                yield [types.SimpleNamespace(form=form) for form in (text[:-1], text[-1])]

    module = types.ModuleType("kiwipiepy")
    module.Kiwi = Kiwi
    monkeypatch.setitem(sys.modules, "kiwipiepy", module)
    return loaded


def test_the_analyser_is_loaded_once(kiwis):
    pytest.importorskip("sacrebleu")
    pytest.importorskip("numpy")
    scores(FOUND, WANTED, [*METRICS, MORPHEMES], n_bootstrap=0)
    assert len(kiwis) == 1
    compare(FOUND, WANTED, WANTED, [*METRICS, MORPHEMES], n_samples=10)
    assert len(kiwis) == 2
    check_available([MORPHEMES])
    assert len(kiwis) == 2


def test_a_full_stop_of_its_own_is_no_reason_for_a_warning(kiwis, caplog):
    pytest.importorskip("sacrebleu")
    scores(FOUND * 100, WANTED * 100, [MORPHEMES], n_bootstrap=0)
    assert len(kiwis) == 1 and caplog.records == []


@pytest.mark.fault("B85")
def test_both_sides_are_counted_first():
    for metric in METRICS:
        with pytest.raises(EvaluationError, match="1 translations for 2 references"):
            scores(["가"], ["가", "나"], [metric])
        with pytest.raises(EvaluationError, match="2 translations for 1 references"):
            scores(["가", "나"], ["가"], [metric])
    with pytest.raises(EvaluationError, match="expected a list of texts, got one with list in it"):
        scores(["가", "나"], [["가"], ["나"]])
    with pytest.raises(EvaluationError, match="expected a list of texts"):
        scores("가", ["가"])


@pytest.mark.fault("B86")
def test_decomposed_hangul_is_the_same_hangul():
    pytest.importorskip("sacrebleu")
    decomposed = [unicodedata.normalize("NFD", text) for text in WANTED]
    assert decomposed != WANTED
    for figure in scores(WANTED * 2, decomposed * 2, n_bootstrap=0):
        assert figure.value == pytest.approx(100)


@pytest.mark.fault("B86")
def test_the_way_of_cutting_is_fixed_and_in_the_signature():
    pytest.importorskip("sacrebleu")
    found = {figure.metric: figure.signature for figure in scores(FOUND, WANTED, n_bootstrap=0)}
    assert "tok:char" in found["BLEU"] and "version:" in found["BLEU"]
    assert "nc:6|nw:0" in found["chrF"] and "nc:6|nw:2" in found["chrF++"]


@pytest.mark.fault("B86")
def test_without_the_package_for_morphemes_it_says_so(monkeypatch):
    pytest.importorskip("sacrebleu")
    monkeypatch.setitem(sys.modules, "kiwipiepy", None)
    with pytest.raises(EvaluationError, match=r"install -c constraints\.txt -e '\.\[corpus\]'"):
        scores(FOUND, WANTED, [MORPHEMES])
    with pytest.raises(EvaluationError, match=r"install -c constraints\.txt -e '\.\[corpus\]'"):
        check_available([*METRICS, MORPHEMES])
    check_available()


def test_without_the_package_it_says_what_to_install():
    code = (
        "import sys; sys.modules['sacrebleu'] = None\n"
        "from translator.metrics import EvaluationError, check_available, chrf\n"
        "for needing in (lambda: chrf(['a'], ['a']), check_available):\n"
        "    try: needing()\n"
        "    except EvaluationError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said = "scores need sacrebleu; install the extra 'eval' in the folder of the code: "
    said += "pip install -c constraints.txt -e '.[eval]'\n"
    assert done.stdout == said * 2
