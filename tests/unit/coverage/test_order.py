"""Orders of inputs, by hand and against dnn-tip."""

import numpy as np
import pytest
import torch

from foible.coverage.order import apfd, by_addition, by_score, deepgini
from foible.errors import DataError


def cells(*rows):
    return [np.array(row, dtype=np.int64) for row in rows]


def test_the_one_that_adds_most_comes_next():
    order, enough = by_addition(cells([0, 1, 2], [0, 1, 2, 3], [4], [3, 4], []))
    assert order.tolist() == [1, 2, 0, 3, 4]  # 1 adds four, then 2 and 3 add one each: the first; then by size
    assert enough == 2


def test_of_equal_ones_the_first_comes_first():
    order, enough = by_addition(cells([5], [6], [5]))
    assert order.tolist() == [0, 1, 2] and enough == 2
    assert by_addition(cells([], []))[0].tolist() == [0, 1]


def test_scores_largest_first():
    assert by_score(torch.tensor([1.0, 3.0, 3.0, 2.0])).tolist() == [1, 2, 3, 0]


def test_deepgini_of_certain_and_undecided_answers():
    assert deepgini(torch.tensor([[1.0, 0.0], [0.5, 0.5]])).tolist() == [0.0, 0.5]


def test_apfd():
    fails = torch.tensor([False, True, False, True])
    assert apfd(torch.tensor([1, 3, 0, 2]), fails) == 1 - 3 / 8 + 1 / 8
    assert apfd(torch.tensor([0, 2, 1, 3]), fails) == 1 - 7 / 8 + 1 / 8
    with pytest.raises(DataError, match="no input fails"):
        apfd(torch.arange(4), torch.zeros(4, dtype=torch.bool))


@pytest.mark.parametrize("seed", range(4))
def test_as_dnn_tip_orders(seed):
    prioritizers = pytest.importorskip("dnn_tip.prioritizers")
    from dnn_tip.apfd import apfd_from_order

    rng = np.random.default_rng(seed)
    profiles = rng.random((40, 30)) < rng.random((40, 1)) * 0.3
    scores = profiles.sum(1) + np.arange(40) / 1000  # no ties, whose order differs
    order, enough = by_addition([np.flatnonzero(row) for row in profiles])
    theirs = np.array(list(prioritizers.cam(scores, profiles.copy())))
    assert order[:enough].tolist() == theirs[:enough].tolist()
    assert profiles[order[:enough].numpy()].any(0).sum() == profiles.any(0).sum()
    fails = rng.random(40) < 0.2
    assert apfd(torch.from_numpy(theirs), torch.from_numpy(fails)) == pytest.approx(apfd_from_order(fails, theirs))
