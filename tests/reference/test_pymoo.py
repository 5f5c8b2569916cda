"""The parts of NSGA-II against pymoo's, fed with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

pytest.importorskip("pymoo")

from pymoo.operators.crossover.sbx import cross_sbx
from pymoo.operators.mutation.pm import mut_pm
from pymoo.operators.survival.rank_and_crowding.metrics import get_crowding_function
from pymoo.util.nds.non_dominated_sorting import NonDominatedSorting

from foible.searches.pareto import crowding, fronts, survivors
from foible.searches.variation import crossed, mutated


class Replayed:
    """A random state that gives numbers known beforehand, in turn."""

    def __init__(self, *draws: np.ndarray) -> None:
        self.draws = list(draws)

    def random(self, shape: object) -> np.ndarray:
        drawn = self.draws.pop(0)
        assert np.prod(shape) == drawn.size
        return drawn.reshape(shape)


def some_scores(seed: int, lanes: int = 5, members: int = 40, objectives: int = 2) -> torch.Tensor:
    """Scores with ties in single objectives and whole duplicates."""
    rng = torch.Generator().manual_seed(seed)
    scores = (torch.rand(lanes, members, objectives, generator=rng, dtype=torch.float64) * 12).round()
    scores[:, ::2] += torch.rand(lanes, members // 2, objectives, generator=rng, dtype=torch.float64)
    return scores


@pytest.mark.parametrize("objectives", [1, 2, 3])
@pytest.mark.parametrize("seed", range(7))
def test_fronts(seed: int, objectives: int) -> None:
    scores = some_scores(seed, objectives=objectives)
    found = fronts(scores)
    for lane, ours in zip(scores, found, strict=True):
        for number, front in enumerate(NonDominatedSorting().do(lane.numpy())):
            assert set(front) == set((ours == number).nonzero()[:, 0].tolist())


@pytest.mark.parametrize("seed", range(7))
def test_crowding_in_every_front(seed: int) -> None:
    scores = some_scores(seed)
    front = fronts(scores)
    room = crowding(scores, front)
    for lane in range(len(scores)):
        for number in range(int(front[lane].max()) + 1):
            members = front[lane] == number
            expected = get_crowding_function("cd").do(scores[lane][members].numpy())
            assert room[lane][members].numpy() == pytest.approx(expected)


def test_survivors_are_whole_fronts_and_the_least_crowded_of_the_last() -> None:
    scores = torch.rand(6, 30, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for lane, chosen in zip(scores, survivors(scores, 12), strict=True):
        expected: list[int] = []
        for front in NonDominatedSorting().do(lane.numpy()):
            room = get_crowding_function("cd").do(lane[front].numpy())
            by_room = sorted(zip(-room, front, strict=True))
            expected += [int(member) for _, member in by_room][: 12 - len(expected)]
        assert chosen.tolist() == expected


def test_crossover() -> None:
    rng, pairs, genes, eta = np.random.default_rng(0), 50, 20, 15.0
    parents = rng.uniform(-2, 3, (2, pairs, genes))
    parents[1, 0] = parents[0, 0]  # nothing to exchange
    low, high = np.full(genes, -2.0), np.full(genes, 3.0)
    chosen, u, r = rng.random((pairs, genes)), rng.random((pairs, genes)), rng.random((pairs, genes))
    active = (chosen < 0.5) & (np.abs(parents[0] - parents[1]) > 1e-14)
    expected = cross_sbx(
        parents, low, high, np.full((pairs, 1), eta), 0.5, np.full((pairs, 1), 0.5),
        random_state=Replayed(chosen, u[active], r[active]),
    )  # fmt: skip
    mother, father = torch.from_numpy(parents)
    # pymoo's coin says which child gets the lower value, ours whether children leave their parent's side
    swap = torch.from_numpy(r < 0.5) != (mother > father)
    first, second = crossed(
        mother, father, torch.from_numpy(low), torch.from_numpy(high),
        cross=torch.from_numpy(chosen < 0.5), swap=swap, spread=torch.from_numpy(u), eta=eta,
    )  # fmt: skip
    assert first.numpy() == pytest.approx(expected[0])
    assert second.numpy() == pytest.approx(expected[1])


def test_mutation() -> None:
    rng, members, genes = np.random.default_rng(1), 60, 20
    old = rng.uniform(-2, 3, (members, genes))
    old[0], old[1] = -2.0, 3.0
    low, high = np.full(genes, -2.0), np.full(genes, 3.0)
    low[3] = high[3] = old[:, 3] = 0.5  # a coordinate that cannot move
    chosen, u = rng.random((members, genes)), rng.random((members, genes))
    moving = chosen < 0.3
    moving[:, 3] = False
    expected = mut_pm(
        old, low, high, np.full(members, 20.0), np.full(members, 0.3), False,
        random_state=Replayed(chosen, u[moving]),
    )  # fmt: skip
    ours = mutated(
        torch.from_numpy(old), torch.from_numpy(low), torch.from_numpy(high),
        mutate=torch.from_numpy(chosen < 0.3), shift=torch.from_numpy(u), eta=20.0,
    )  # fmt: skip
    assert ours.numpy() == pytest.approx(expected)
