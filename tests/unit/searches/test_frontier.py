"""The search for disagreements at a boundary, against two classifiers whose boundaries are known."""

import pytest
import torch

from foible.errors import RecipeError
from foible.searches.frontier import Frontier
from foible.testing.play import toy_lanes
from foible.types import Feedback, Want

DELTA = 0.01


def line(latents):
    """Margins of two classifiers that differ by DELTA, each falling by 3 along the first coordinate."""
    tested = 2 - 3 * latents[:, 0]
    return tested, tested + DELTA


def told(proposal):
    tested, rival = line(proposal.latents)
    slopes = torch.zeros(len(tested), 2, 3)
    slopes[:, 0, 0] = -3
    scores = torch.stack([tested, (tested + rival) / 2], 1)
    return Feedback(scores, (tested > 0) != (rival > 0), torch.ones(len(tested), dtype=torch.long), slopes)


def walked(search, rounds, start=0.0):
    lanes = toy_lanes([0])
    lanes.starts.latents[:] = 0
    lanes.starts.latents[..., 0] = start
    state, seen = search.begin(lanes), []
    for _ in range(rounds):
        proposal = search.ask(state, lanes)
        feedback = told(proposal)
        seen.append((proposal, feedback, state))
        state = search.tell(state, lanes, proposal, feedback)
        if bool(state["done"][0]):
            break
    return seen, state


def test_it_finds_a_sheet_a_three_hundredth_thick_in_the_line_between_its_sides():
    """m_t = 2 - 3x and m_r = m_t + 0.01 disagree where 2/3 <= x < 2/3 + 1/300; s is linear, so its zero is hit at once."""
    seen, _ = walked(Frontier(hops=0), 40)
    hits = [p.latents[0, 0].item() for p, f, _ in seen if bool(f.failed[0])]
    assert len(hits) == 1 and 2 / 3 <= hits[0] < 2 / 3 + DELTA / 3
    crossing = [bool(s["crossing"][0]) for _, _, s in seen]
    assert crossing == sorted(crossing), "down first, then across"
    wants = [int(p.wants[0]) for p, _, _ in seen]
    assert set(wants[: crossing.index(True)]) == {Want.GRADIENTS} and set(wants[crossing.index(True) :]) == {
        Want.SCORES
    }
    assert len(wants) - crossing.index(True) == 1, "the straight line is exact here"


def test_it_walks_along_the_boundary_and_ends_after_its_hops():
    seen, state = walked(Frontier(hops=3), 200)
    hits = [p.latents[0] for p, f, _ in seen if bool(f.failed[0])]
    assert bool(state["done"][0]) and len(hits) >= 3
    assert all(2 / 3 <= h[0] < 2 / 3 + DELTA / 3 for h in hits)
    assert len({round(float(h[1]), 6) for h in hits}) == len(hits), "each somewhere else"


def test_classifiers_that_are_the_same_are_given_up():
    search, lanes = Frontier(looks=3, hops=1), toy_lanes([0])
    lanes.starts.latents[:] = 0
    state, rounds = search.begin(lanes), 0
    while not bool(state["done"][0]):
        proposal = search.ask(state, lanes)
        tested, _ = line(proposal.latents)
        slopes = torch.zeros(1, 2, 3)
        slopes[:, 0, 0] = -3
        none = torch.zeros(1, dtype=torch.bool)
        state = search.tell(
            state, lanes, proposal, Feedback(torch.stack([tested, tested], 1), none, none.long(), slopes)
        )
        rounds += 1
    assert rounds < 60


@pytest.mark.parametrize("settings", [{"steps": 0}, {"looks": 0}, {"hops": -1}, {"stride": 0}, {"overshoot": -1}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(RecipeError):
        Frontier(**settings)
