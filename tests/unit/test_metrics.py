"""Every number here can be checked with a pencil."""

from __future__ import annotations

from typing import Any, cast

import pytest

from foible.metrics import class_pairs, evaluations_per_failure, paired, rate, spread
from foible.metrics.mcnemar import exact_mcnemar
from foible.records import Finding, Outcome
from foible.types import Arm, Status


def outcome(attempt: int, status: Status, evaluations: int = 0, arm: Arm = Arm.SEARCH) -> Outcome:
    return Outcome(arm, attempt, 0, "test", status, 0, evaluations, evaluations // 10)


class Pair:
    def __init__(self, label: int, predicted: int) -> None:
        self.label, self.predicted = label, predicted


def test_wilson_interval_of_none_and_of_half() -> None:
    z2 = 1.959964**2
    none = rate(0, 10)
    assert (none.count, none.total, none.share) == (0, 10, 0.0)
    assert none.low == pytest.approx(0.0)
    assert none.high == pytest.approx(z2 / (10 + z2))  # at 0 of n the formula collapses to z² / (n + z²)
    half = rate(5, 10)
    width = (z2 * 0.25 / 10 + z2 * z2 / 400) ** 0.5 / (1 + z2 / 10)
    assert half.low == pytest.approx(0.5 - width)
    assert half.high == pytest.approx(0.5 + width)


def test_the_rate_of_nothing_is_unknown() -> None:
    nothing = rate(0, 0)
    assert nothing.share is nothing.low is nothing.high is None


def test_an_impossible_count_is_refused() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        rate(3, 2)


def test_spread_of_four_numbers() -> None:
    s = spread([1, 2, 3, 10])
    assert (s.count, s.smallest, s.lower, s.median, s.upper, s.largest) == (4, 1, 1.75, 2.5, 4.75, 10)
    assert s.mean == 4


def test_mean_interval_is_students() -> None:
    s = spread([1, 2, 3])  # mean 2, standard error 1 / sqrt(3), t = 4.3027 at two degrees of freedom
    assert s.mean_low == pytest.approx(2 - 4.302653 / 3**0.5)
    assert s.mean_high == pytest.approx(2 + 4.302653 / 3**0.5)


def test_spread_says_what_it_cannot_know() -> None:
    assert spread([]).median is None
    assert spread([7]).median == 7
    assert spread([7]).mean_low is None
    assert (spread([7, 7]).mean_low, spread([7, 7]).mean_high) == (7, 7)


def test_unsolved_origins_count_towards_the_cost() -> None:
    ended = [outcome(0, Status.FOUND, 100), outcome(1, Status.HELD, 500), outcome(2, Status.REJECTED)]
    assert evaluations_per_failure(ended) == 600
    assert evaluations_per_failure(ended[1:]) is None


def test_confusions_come_most_frequent_first() -> None:
    findings = cast(list[Finding], [Pair(4, 9), Pair(7, 1), Pair(4, 9), Pair(3, 5)])
    assert [(p.label, p.predicted, p.count) for p in class_pairs(findings)] == [(4, 9, 2), (3, 5, 1), (7, 1, 1)]


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [(5, 0, 2 / 32), (3, 1, 2 * 5 / 16), (2, 2, 1.0), (0, 0, 1.0)],
)
def test_exact_mcnemar(first: int, second: int, p: float) -> None:
    assert exact_mcnemar(first, second) == pytest.approx(p)


def test_arms_are_compared_on_shared_accepted_attempts_only() -> None:
    found, held, lost, rejected = Status.FOUND, Status.HELD, Status.LOST, Status.REJECTED
    ours = [outcome(k, s, 10) for k, s in enumerate([found, found, held, rejected, found, lost])]
    theirs = [outcome(k, s, 50, Arm.BASELINE) for k, s in enumerate([held, found, held, rejected])]
    result = paired(ours, theirs)
    assert (result.shared, result.both, result.search_only, result.baseline_only, result.neither) == (3, 1, 1, 0, 1)
    assert (result.search.count, result.baseline.count, result.p_value) == (2, 1, 1.0)
    assert (result.search_evaluations_per_failure, result.baseline_evaluations_per_failure) == (15, 150)


def test_nothing_shared_has_no_p_value() -> None:
    result: Any = paired([outcome(0, Status.FOUND)], [])
    assert (result.shared, result.p_value, result.search.share) == (0, None, None)
