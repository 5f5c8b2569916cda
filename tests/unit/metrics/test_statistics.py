"""Each statistic against a published worked example, a textbook case, or another library's arithmetic."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats
from statsmodels.duration.survfunc import SurvfuncRight, survdiff
from statsmodels.stats.contingency_tables import Table2x2, cochrans_q, mcnemar
from statsmodels.stats.multitest import multipletests

from foible.metrics import (
    Cost,
    cheaper,
    cochran_q,
    corrected,
    detectable_difference,
    exact_mcnemar,
    fisher_exact,
    log_rank,
    mcnemar_power,
    median_cost,
    odds_ratio,
    origins_needed,
    pair_counts,
    paired_log_rank,
    paired_odds,
    size,
    vargha_delaney,
)
from foible.metrics.censored import log_rank_scores

# Freireich et al., Blood 21 (1963): weeks in remission of 21 matched pairs; + marks those still in remission.
PLACEBO = "1 22 3 12 8 17 2 11 8 12 2 5 4 15 8 23 5 11 4 1 8"
MERCAPTOPURINE = "10 7 32+ 23 22 6 16 34+ 32+ 25+ 11+ 20+ 19+ 6 17+ 35+ 6 13 9+ 6+ 10+"


def costs(text: str) -> list[Cost]:
    return [Cost(float(part.rstrip("+")), not part.endswith("+")) for part in text.split()]


def some_costs(rng: np.random.Generator, count: int, scale: float) -> list[Cost]:
    drawn = rng.exponential(scale, count).round()
    return [Cost(min(t, 30.0), t <= 30) for t in drawn]


def test_pairs_are_counted_in_order() -> None:
    counts = pair_counts([True, True, False, False, True], [True, False, True, False, False])
    assert (counts.both, counts.first_only, counts.second_only, counts.neither) == (1, 2, 1, 1)
    assert (counts.shared, counts.discordant) == (5, 3)


@pytest.mark.parametrize(("b", "c"), [(150, 86), (0, 7), (12, 12), (1, 9), (0, 0)])
def test_mcnemar_agrees_with_statsmodels(b: int, c: int) -> None:
    expected = mcnemar([[794, b], [c, 570]], exact=True).pvalue if b + c else 1.0
    assert exact_mcnemar(b, c) == pytest.approx(expected)


def test_paired_odds_of_the_prime_ministers_ratings() -> None:
    odds = paired_odds(86, 150)  # Agresti (2013), table 11.1: b / c = 0.573
    assert odds.ratio == pytest.approx(0.573, abs=1e-3)
    low, high = stats.binomtest(86, 236).proportion_ci(0.95, method="exact")
    assert (odds.low, odds.high) == (pytest.approx(low / (1 - low)), pytest.approx(high / (1 - high)))
    assert paired_odds(3, 0).ratio is None and paired_odds(3, 0).high is None
    assert paired_odds(3, 0).low == pytest.approx(0.025 ** (1 / 3) / (1 - 0.025 ** (1 / 3)))
    assert paired_odds(0, 0).low is None


def test_cochrans_own_example() -> None:
    """Cochran (1950), diphtheria bacilli on four media: Q = 8.05 with 3 degrees of freedom."""
    rows = [(1, 1, 1, 1)] * 4 + [(1, 1, 0, 1)] * 2 + [(0, 1, 1, 1)] * 3 + [(0, 1, 0, 1)] + [(0, 0, 0, 0)] * 59
    result = cochran_q(rows)
    assert result.statistic == pytest.approx(3 * 51 / 19)
    assert (result.degrees, result.origins) == (3, 69)
    expected = cochrans_q(np.array(rows))
    assert result.p_value == pytest.approx(expected.pvalue)


def test_cochran_of_two_is_mcnemar_without_correction() -> None:
    rows = [(1, 0)] * 9 + [(0, 1)] * 4 + [(1, 1)] * 5
    assert cochran_q(rows).statistic == pytest.approx((9 - 4) ** 2 / 13)
    assert cochran_q([(1, 1), (0, 0)]).p_value == 1.0
    with pytest.raises(ValueError, match="two or more"):
        cochran_q([[1], [0]])


def test_the_lady_tasting_tea() -> None:
    assert fisher_exact(3, 4, 1, 4) == pytest.approx(34 / 70)
    odds = odds_ratio(3, 4, 1, 4)
    assert odds.ratio == pytest.approx(6.408309, rel=1e-4)  # as R's fisher.test prints
    assert odds.low and odds.high

    def at_most(k: int, ratio: float) -> float:
        weights = [comb(4, j) ** 2 * ratio**j for j in range(5)]
        return sum(weights[: k + 1]) / sum(weights)

    assert (at_most(3, odds.high), 1 - at_most(2, odds.low)) == (pytest.approx(0.025), pytest.approx(0.025))
    assert odds_ratio(4, 4, 0, 4).ratio is None and odds_ratio(4, 4, 4, 4).low is None
    with pytest.raises(ValueError, match="5 of 4"):
        odds_ratio(5, 4, 1, 4)


def test_odds_of_many_are_near_the_sample_odds() -> None:
    table = Table2x2([[300, 200], [200, 300]])
    assert odds_ratio(300, 500, 200, 500).ratio == pytest.approx(table.oddsratio, rel=0.01)


def test_log_rank_of_the_remission_times() -> None:
    """The textbook value is chi-square 16.79 (Cox and Oakes, 1984); medians 8 and 23 weeks."""
    result = log_rank(costs(PLACEBO), costs(MERCAPTOPURINE))
    assert stats.norm.isf(result.p_value / 2) ** 2 == pytest.approx(16.793, abs=1e-3)
    assert result.first_is_cheaper
    assert (median_cost(costs(PLACEBO)), median_cost(costs(MERCAPTOPURINE))) == (8, 23)


def test_log_rank_and_median_agree_with_statsmodels() -> None:
    rng = np.random.default_rng(1)
    first, second = some_costs(rng, 60, 15), some_costs(rng, 40, 30)
    both = [*first, *second]
    times, events = [c.amount for c in both], [c.solved for c in both]
    _, p = survdiff(np.array(times), np.array(events), np.repeat([0, 1], [60, 40]))
    assert log_rank(first, second).p_value == pytest.approx(p)
    curve = SurvfuncRight([c.amount for c in first], [c.solved for c in first])
    assert median_cost(first) == curve.quantile(0.5)


def test_scores_sum_to_observed_minus_expected() -> None:
    first, second = costs("1 3+"), costs("2 4")
    scores = log_rank_scores([*first, *second])  # hazards: 1/4, 1/4 + 1/3, the same, and + 1
    assert scores.tolist() == pytest.approx([3 / 4, -7 / 12, 5 / 12, -7 / 12])
    assert scores.sum() == pytest.approx(0)


@pytest.mark.parametrize("seed", range(4))
def test_the_exact_exchange_is_scipys_permutation_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = some_costs(rng, 9, 10), some_costs(rng, 9, 25)
    scores = log_rank_scores([*first, *second])

    def difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return (x - y).sum(axis)

    expected = stats.permutation_test(
        (scores[:9], scores[9:]), difference, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    result = paired_log_rank(first, second)
    assert result.method == "exact exchange"
    assert result.p_value == pytest.approx(expected.pvalue)


def test_the_normal_limit_is_near_a_hundred_thousand_exchanges() -> None:
    rng = np.random.default_rng(3)
    first, second = some_costs(rng, 40, 20), some_costs(rng, 40, 34)
    result = paired_log_rank(first, second)
    scores = log_rank_scores([*first, *second])
    gaps = scores[:40] - scores[40:]
    sums = rng.choice([-1.0, 1.0], (100_000, 40)) @ gaps
    assert result.method == "normal limit of exchange"
    assert result.p_value == pytest.approx((np.abs(sums) >= abs(gaps.sum())).mean(), abs=0.01)


def test_the_paired_remission_times_differ() -> None:
    result = paired_log_rank(costs(PLACEBO), costs(MERCAPTOPURINE))
    assert result.p_value < 0.001 and result.first_is_cheaper
    assert paired_log_rank(costs(MERCAPTOPURINE), costs(PLACEBO)).p_value == pytest.approx(result.p_value)


def test_pairing_sees_what_the_unpaired_test_does_not() -> None:
    slow = [Cost(10.0 * 2**k, True) for k in range(10)]
    quick = [Cost(c.amount - 1, True) for c in slow]
    assert paired_log_rank(quick, slow).p_value == pytest.approx(2 / 2**10)
    assert log_rank(quick, slow).p_value > 0.5


def test_a_smaller_budget_does_not_make_a_search_cheaper() -> None:
    """With unsolved origins counted as their budget, the first side would have the lower mean."""
    first, second = [Cost(10, False)] * 6, [Cost(100, False)] * 6
    assert paired_log_rank(first, second).p_value == log_rank(first, second).p_value == 1.0
    assert paired_log_rank(first, second).first_is_cheaper is None
    assert median_cost(first) is None and median_cost([]) is None
    assert Cost(50, True).within(10) == Cost(10, False) and Cost(10, True).within(10) == Cost(10, True)


def test_costs_that_cannot_vary_say_nothing() -> None:
    """All events when one side has nobody left: the variance is 0, and scipy alone would give NaN."""
    assert log_rank([Cost(1, False)], [Cost(5, True)]).p_value == 1.0
    assert log_rank([], [Cost(5, True)]).p_value == 1.0


def test_costs_must_be_paired() -> None:
    with pytest.raises(ValueError, match="2 and 1"):
        paired_log_rank(costs("1 2"), costs("1"))


def test_vargha_delaney_is_mann_whitneys_share() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, 30).tolist(), rng.integers(2, 9, 20).tolist()
    assert vargha_delaney(x, y) == pytest.approx(stats.mannwhitneyu(x, y).statistic / 600)
    assert vargha_delaney([], y) is None
    assert [size(a) for a in (0.5, 0.56, 0.35, 0.29)] == ["negligible", "small", "medium", "large"]


def test_an_unsolved_origin_is_dearer_than_any_solved_one() -> None:
    assert cheaper(costs("5 9+"), costs("8 9+")) == pytest.approx((1 + 1 + 0 + 0.5) / 4)


def test_corrections_agree_with_statsmodels_on_the_published_family() -> None:
    """The fifteen p-values of Benjamini and Hochberg (1995), section 4.1: 3 survive Bonferroni's rule, 4 theirs."""
    family = [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459),
        *(0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
    ]
    shuffled = [family[k] for k in np.random.default_rng(0).permutation(15)]
    for name, other in (("holm", "holm"), ("benjamini-hochberg", "fdr_bh")):
        assert corrected(shuffled, name) == pytest.approx(multipletests(shuffled, method=other)[1])  # type: ignore[arg-type]
        assert corrected([], name) == []  # type: ignore[arg-type]
    assert sum(p <= 0.05 for p in corrected(family, "holm")) == 3
    assert sum(p <= 0.05 for p in corrected(family, "benjamini-hochberg")) == 4
    with pytest.raises(ValueError, match="between 0 and 1"):
        corrected([0.1, 1.2])


@pytest.mark.parametrize(("n", "b", "c"), [(12, 0.5, 0.1), (15, 0.3, 0.3), (6, 0.9, 0.05), (5, 1.0, 0.0)])
def test_power_is_the_sum_over_all_outcomes(n: int, b: float, c: float) -> None:
    total = 0.0
    for x, y in product(range(n + 1), repeat=2):
        if x + y <= n and exact_mcnemar(x, y) <= 0.05:
            total += comb(n, x) * comb(n - x, y) * b**x * c**y * (1 - b - c) ** (n - x - y)
    assert mcnemar_power(n, b, c) == pytest.approx(total, abs=1e-9)


def test_origins_needed_are_near_connors_formula() -> None:
    b, c = 0.25, 0.10  # n = (z_a sqrt(b + c) + z_b sqrt(b + c - (b - c)^2))^2 / (b - c)^2
    z_a, z_b = stats.norm.isf(0.025), stats.norm.isf(0.2)
    connor = (z_a * (b + c) ** 0.5 + z_b * (b + c - (b - c) ** 2) ** 0.5) ** 2 / (b - c) ** 2
    needed = origins_needed(b, c)
    assert needed is not None
    assert connor < needed < 1.15 * connor, "the exact test is a little conservative"
    assert origins_needed(0.2, 0.2) is None
    assert origins_needed(0.5, 0.4999) is None, "more than a million"


def test_the_detectable_difference_has_the_wanted_power() -> None:
    difference = detectable_difference(100, 0.4)
    assert difference is not None
    assert mcnemar_power(100, 0.2 + difference / 2, 0.2 - difference / 2) == pytest.approx(0.8, abs=0.01)
    assert detectable_difference(5, 0.5) is None, "five origins show nothing: 1/16 is more than 0.05"
    with pytest.raises(ValueError, match="together"):
        mcnemar_power(10, 0.8, 0.4)
