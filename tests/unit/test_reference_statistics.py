"""Our coefficients and intervals against other people's implementations of them."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from foible.metrics.agreement import cohen_kappa
from foible.metrics.consensus import fleiss_kappa, krippendorff_alpha
from foible.metrics.rates import rate
from foible.metrics.resampling import estimate

SEEDS = range(8)


def ballots(seed, items=30, answers=4, voices=5, lacking=False):
    """How often each answer was given to each item, with a liking for one answer each."""
    rng = np.random.default_rng(seed)
    liked = rng.integers(0, answers, items)
    share = 0.5 / answers + 0.5 * np.eye(answers)[liked]
    count = rng.integers(0, voices + 1, items) if lacking else np.full(items, voices)
    return np.stack([rng.multinomial(n, p) for n, p in zip(count, share, strict=True)])


@pytest.mark.parametrize(("count", "total"), [(0, 1), (1, 1), (3, 7), (29, 30), (0, 999), (500, 999), (999, 999)])
def test_the_interval_of_a_share_is_scipys(count, total):
    theirs, ours = stats.binomtest(count, total).proportion_ci(0.95, method="wilson"), rate(count, total)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_cohens_kappa(seed):
    rng = np.random.default_rng(seed)
    ours = rng.integers(0, 4, 60)
    theirs = np.where(rng.random(60) < 0.5, ours, rng.integers(0, 4, 60))
    expected = cohen_kappa_score(ours, theirs)
    assert cohen_kappa(list(zip(ours.tolist(), theirs.tolist(), strict=True))) == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss_kappa(seed):
    theirs = pytest.importorskip("statsmodels.stats.inter_rater", reason="needs statsmodels")
    table = ballots(seed)
    assert fleiss_kappa(table) == pytest.approx(theirs.fleiss_kappa(table))


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("lacking", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_krippendorffs_alpha(seed, lacking, level):
    theirs = pytest.importorskip("krippendorff", reason="needs krippendorff")
    table = ballots(seed, lacking=lacking)
    expected = theirs.alpha(value_counts=table, level_of_measurement=level)
    assert krippendorff_alpha(table, level) == pytest.approx(expected)


def test_the_bootstrap_is_scipys():
    values = np.random.default_rng(0).gamma(2.0, size=80)
    found = estimate(80, lambda rows: float(values[rows].mean()), np.random.default_rng(1), 6000)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=6000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=0.05 * width)
    assert found.high == pytest.approx(expected.high, abs=0.05 * width)
