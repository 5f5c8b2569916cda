"""Fronts, room and operators that can be checked on paper."""

from __future__ import annotations

import pytest
import torch

from foible.searches.pareto import crowding, dominance, fronts, order, survivors, winners
from foible.searches.variation import crossed, mutated

# (1, 4) (2, 2) (4, 1) are the first front, (2, 5) (4, 4) the second, (5, 5) the third
SCORES = torch.tensor([[[1.0, 4], [2, 2], [4, 1], [2, 5], [4, 4], [5, 5]]])
FRONTS = torch.tensor([[0, 0, 0, 1, 1, 2]])


def test_dominance_and_fronts() -> None:
    who = dominance(SCORES)[0]
    assert who[1].tolist() == [False, False, False, True, True, True]
    assert not who.diagonal().any()
    assert fronts(SCORES).equal(FRONTS)
    assert fronts(SCORES, enough=2).tolist() == [[0, 0, 0, 6, 6, 6]], "the rest was not needed"


def test_equals_share_a_front() -> None:
    assert fronts(torch.ones(2, 4, 3)).tolist() == [[0] * 4] * 2


def test_nan_is_worse_than_everything() -> None:
    scores = torch.tensor([[[1.0, 1], [float("nan"), 0], [2, 2]]])
    assert fronts(scores).tolist() == [[0, 0, 1]], "(inf, 0) is best in its second number"
    assert fronts(torch.tensor([[[float("nan")] * 2, [9.0, 9]]])).tolist() == [[1, 0]]


def test_room_in_a_front() -> None:
    room = crowding(SCORES, FRONTS)[0]
    assert room[[0, 2, 3, 4, 5]].isinf().all(), "ends, and fronts of two or one"
    assert room[1] == pytest.approx(((4 - 1) / 3 + (4 - 1) / 3) / 2)


def test_a_lane_does_not_depend_on_its_neighbours() -> None:
    scores = torch.rand(6, 30, 2, generator=torch.Generator().manual_seed(0))
    together = survivors(scores, 11)
    assert all(survivors(scores[k : k + 1], 11)[0].equal(together[k]) for k in range(6))
    ranked = fronts(scores, enough=11)
    assert all(fronts(scores[k : k + 1], enough=11)[0].equal(ranked[k]) for k in range(6))


def test_order_and_tournament() -> None:
    front, room = torch.tensor([[1, 0, 0, 0]]), torch.tensor([[9.0, 1, 5, 5]])
    assert order(front, room).tolist() == [[2, 3, 1, 0]]
    pairs = torch.tensor([[[0, 1], [1, 2], [2, 3], [2, 3]]])
    coins = torch.tensor([[True, True, True, False]])
    assert winners(front, room, pairs, coins).tolist() == [[1, 2, 2, 3]]


def test_scores_have_three_dimensions() -> None:
    with pytest.raises(ValueError, match=r"\(3, 2\)"):
        fronts(torch.ones(3, 2))


def test_children_keep_their_parents_middle_inside_wide_bounds() -> None:
    mother, father = torch.tensor([1.0, 0.0]), torch.tensor([3.0, 0.0])
    everywhere, nowhere = torch.ones(2, dtype=torch.bool), torch.zeros(2, dtype=torch.bool)
    low, high = torch.tensor(-1e6), torch.tensor(1e6)
    settings = {"spread": torch.tensor([0.3, 0.3]), "eta": 15.0}
    first, second = crossed(mother, father, low, high, cross=everywhere, swap=nowhere, **settings)
    apart = (2 * 0.3) ** (1 / 16)  # without bounds in the way: beta = (2 u)^(1 / (eta + 1))
    assert first.tolist() == pytest.approx([2 - apart, 0]) and second.tolist() == pytest.approx([2 + apart, 0])
    swapped, _ = crossed(mother, father, low, high, cross=everywhere, swap=everywhere, **settings)
    assert swapped[0] == second[0]
    same, _ = crossed(mother, father, low, high, cross=nowhere, swap=nowhere, **settings)
    assert same.equal(mother)


def test_mutation_stays_inside_and_half_is_no_move() -> None:
    old, low, high = torch.tensor([-1.0, 0.0, 1.0, 0.3]), torch.tensor(-1.0), torch.tensor(1.0)
    everywhere = torch.ones(4, dtype=torch.bool)
    still = mutated(old, low, high, mutate=everywhere, shift=torch.full((4,), 0.5), eta=20)
    assert still.tolist() == pytest.approx(old.tolist())
    for u in (0.0, 0.01, 0.99, 0.999999):
        moved = mutated(old, low, high, mutate=everywhere, shift=torch.full((4,), u), eta=20)
        assert moved.min() >= -1 and moved.max() <= 1 and moved.isfinite().all()
