"""Kappa by hand."""

import pytest

from foible.metrics import agreement
from foible.metrics.agreement import cohen_kappa


def test_cohen_1960():
    """20 yes-yes, 15 no-no, 5 yes-no, 10 no-yes: p_o = 0.7, p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5, kappa = 0.4."""
    pairs = [("y", "y")] * 20 + [("n", "n")] * 15 + [("y", "n")] * 5 + [("n", "y")] * 10
    assert cohen_kappa(pairs) == pytest.approx(0.4)


def test_the_edges():
    assert cohen_kappa([(1, 1), (2, 2)]) == 1.0
    assert cohen_kappa([(1, 1), (1, 1)]) is None, "one answer only: chance explains everything"
    assert cohen_kappa([(1, 2), (2, 1)]) == -1.0


def test_only_shared_items_count():
    both = agreement("Ada", "Ben", {1: 0, 2: 1, 3: 1}, {2: 1, 3: 0, 4: 0})
    assert both.items == 2 and both.share == 0.5
    assert agreement("Ada", "Ben", {1: 0}, {2: 0}).share is None
