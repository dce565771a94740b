import math

import pytest

from translator.judge import Judge


def verdicts(metric, values, patience=0):
    judge = Judge(metric, patience)
    return [judge.is_best(value) for value in values], judge


@pytest.mark.fault("B56")
def test_chrf_rises_loss_falls_and_a_tie_keeps_the_older():
    assert verdicts("chrf", [0.0, 0.0, 3.0, 2.0, 3.0])[0] == [True, False, True, False, False]
    assert verdicts("nll", [5.0, 4.0, 4.5, 4.0])[0] == [True, True, False, False]


@pytest.mark.fault("B56")
def test_judging_goes_on_where_it_stopped():
    _, judge = verdicts("nll", [5.0, 4.0, 4.5], patience=3)
    later = Judge("nll", 3, judge.best, judge.since_best)
    assert [later.is_best(v) for v in (4.2, 3.9)] == [False, True]
    assert later.since_best == 0


def test_patience_counts_validations_without_a_better_one():
    judge = Judge("nll", patience=2)
    found = []
    for value in (3.0, 3.1, 2.9, 2.9, 2.9, 1.0):
        judge.is_best(value)
        found.append(judge.exhausted)
    assert found == [False, False, False, False, True, False]
    _, endless = verdicts("nll", [1.0] * 50)
    assert not endless.exhausted


def test_what_is_not_a_number_is_never_better():
    assert verdicts("nll", [2.0, math.nan, 1.0])[0] == [True, False, True]
    assert verdicts("chrf", [math.nan, 1.0, math.nan])[0] == [True, True, False]


def test_the_worst_of_several():
    assert Judge("nll", 0).worst([2.0, 4.0, 4.0, 1.0]) == 1
    assert Judge("chrf", 0).worst([2.0, 4.0, 1.0, 1.0]) == 2
    assert Judge("nll", 0).worst([2.0, math.nan, 4.0]) == 1


def test_without_dev_pairs_the_newest_is_the_best():
    found, judge = verdicts("nll", [None, None], patience=1)
    assert found == [True, True] and not judge.exhausted
