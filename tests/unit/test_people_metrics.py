"""Agreement of many people, sample sizes, ratings and AUC, against published examples and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foible.metrics import (
    acceptability,
    auc,
    ballots,
    bias,
    confusion_score,
    discrimination,
    estimate,
    fleiss_kappa,
    krippendorff_alpha,
    needed,
    rate,
)
from foible.metrics.agreement import cohen_kappa

TEXTBOOK = [  # ten subjects, fourteen raters, five categories
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def people(*rows):
    """Answers as in the published tables: a dot is a missing one."""
    return [{k: int(c) for k, c in enumerate(row) if c != "."} for row in rows]


def test_fleiss_on_the_textbook_example():
    """Mean P = 0.378, expected 0.213, kappa 0.210."""
    assert fleiss_kappa(np.array(TEXTBOOK)) == pytest.approx(0.210, abs=5e-4)


def test_fleiss_by_hand():
    """Two of three items unanimous among three people: mean P = (1 + 1 + 1/3) / 3 = 7/9, p = 5/9 and 4/9."""
    expected = (25 + 16) / 81
    assert fleiss_kappa(np.array([[3, 0], [0, 3], [2, 1]])) == pytest.approx((7 / 9 - expected) / (1 - expected))


def test_the_edges_of_fleiss():
    assert fleiss_kappa(np.array([[2, 0], [0, 2]])) == 1
    assert fleiss_kappa(np.array([[2], [2]])) is None, "one answer only: chance explains everything"
    assert fleiss_kappa(np.zeros((0, 2), dtype=np.int64)) is None
    assert fleiss_kappa(np.array([[1, 0], [0, 1]])) is None, "one person cannot agree"
    with pytest.raises(ValueError, match="same number of answers"):
        fleiss_kappa(np.array([[2, 0], [1, 0]]))


@pytest.mark.parametrize(
    ("rows", "alpha"),
    [
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 0.743),  # Krippendorff, section C
        ((".....34121133.3", "1.213343.......", "..21344.21133.4"), 0.691),  # three coders, fifteen units
    ],
)
def test_alpha_on_published_examples(rows, alpha):
    assert krippendorff_alpha(ballots(people(*rows))) == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize(
    ("rows", "alpha"),
    [
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 0.815),  # Krippendorff, section D
        ((".....34121133.3", "1.213343.......", "..21344.21133.4"), 0.807),  # three coders, fifteen units
    ],
)
def test_ordinal_alpha_on_published_examples(rows, alpha):
    table = ballots(people(*rows), answers=range(1, 6))
    assert krippendorff_alpha(table, "ordinal") == pytest.approx(alpha, abs=5e-4)


def test_ordinal_alpha_by_hand():
    """Two people say 1 1, 2 2, 2 3. Middles of their ranks: 1, 3.5, 5.5. Observed: the last pair, both ways, 2 * 2^2."""
    table = ballots(people("122", "123"), answers=range(1, 6))
    assert table.shape == (3, 5)
    expected = 2 * (2 * 3 * 2.5**2 + 2 * 1 * 4.5**2 + 3 * 1 * 2**2)
    assert krippendorff_alpha(table, "ordinal") == pytest.approx(1 - 5 * 8 / expected)
    assert krippendorff_alpha(ballots(people("11", "11"), range(1, 6)), "ordinal") is None


def test_alpha_of_two_people_by_hand():
    """Ten items, 0 and 1, six agreements (Krippendorff, section A): n = 20, o_01 = 4, n_0 = 14, n_1 = 6."""
    table = ballots(people("0100000010", "1110010000"))
    assert krippendorff_alpha(table) == pytest.approx(1 - 19 * 8 / (2 * 14 * 6))


def test_the_edges_of_alpha():
    assert krippendorff_alpha(ballots(people("11", "11"))) is None
    assert krippendorff_alpha(ballots(people("12", ".."))) is None
    assert krippendorff_alpha(ballots([])) is None
    assert krippendorff_alpha(ballots(people("12", "21"))) == pytest.approx(-0.5)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_who_answered_first_does_not_matter(pairs):
    first, second = ({k: p[side] for k, p in enumerate(pairs)} for side in (0, 1))
    assert krippendorff_alpha(ballots([first, second])) == pytest.approx(krippendorff_alpha(ballots([second, first])))
    if cohen_kappa(pairs) == 1:
        assert fleiss_kappa(ballots([first, second])) == pytest.approx(1)


def test_ballots_count_answers():
    assert ballots([{5: "a", 9: "b"}, {9: "b"}]).tolist() == [[1, 0], [0, 2]]


def test_the_bootstrap_of_a_share_is_close_to_wilson():
    yes = np.array([1] * 30 + [0] * 70)
    found = estimate(100, lambda rows: float(yes[rows].mean()), np.random.default_rng(0), 4000)
    wilson = rate(30, 100)
    assert found.value == 0.3
    assert found.low == pytest.approx(wilson.low, abs=0.02) and found.high == pytest.approx(wilson.high, abs=0.02)


def test_the_bootstrap_repeats_itself_and_knows_its_limits():
    def mean(rows):
        return float(rows.mean())

    assert estimate(9, mean, np.random.default_rng(1)) == estimate(9, mean, np.random.default_rng(1))
    assert estimate(1, mean, np.random.default_rng(1)).low is None
    assert estimate(0, mean, np.random.default_rng(1)).value is None
    assert estimate(9, lambda _: None, np.random.default_rng(1)).value is None
    half = estimate(2, lambda rows: None if rows[0] == rows[1] else 0.5, np.random.default_rng(1))
    assert half.low == half.high == 0.5, "resamples where it is not defined are left out"


def test_sample_sizes():
    """z^2 / 4 / 0.05^2 = 384.1; of 10 000: 384.1 / (1 + 383.1 / 10 000) = 370; of 100: 79.5."""
    assert needed(0.05, 10**9) == 385
    assert needed(0.05, 10_000) == 370
    assert needed(0.05, 100) == 80
    assert needed(0.1, 100) == 50
    assert needed(0.001, 7) == 7
    assert needed(0.05, 0) == 0
    with pytest.raises(ValueError, match="margin"):
        needed(0, 10)


def test_ratings_of_two_classes():
    assert [confusion_score(s, t) for s, t in ((5, 1), (1, 5), (4, 3), (2, 2))] == [1, 1, 4, 5]
    assert [acceptability(s, t) for s, t in ((1, 1), (5, 5), (4, 2))] == [2, 10, 6]
    assert bias(5, 2) == 3
    with pytest.raises(ValueError, match="between 1 and 5"):
        confusion_score(0, 3)


def test_auc_counts_pairs():
    """Pairs: 0.9 beats both, 0.4 beats 0.1 and ties with 0.4: 3.5 of 4."""
    assert auc([0.9, 0.4, 0.4, 0.1], [True, True, False, False]) == 0.875
    assert auc([0.1, 0.9], [True, False]) == 0
    assert auc([0.1, 0.9], [True, True]) is None
    assert auc([], []) is None


def test_a_validator_beside_people():
    found = discrimination([0.9, 0.6, 0.7, 0.2], [True, True, True, False], [True, True, False, False])
    assert (found.true_accept.count, found.true_accept.total) == (2, 2)
    assert (found.false_accept.count, found.false_accept.total) == (1, 2)
    assert found.auc == 0.75 and found.kappa == pytest.approx(0.5)
    assert discrimination([], [], []).kappa is None
