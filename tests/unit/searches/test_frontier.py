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


def walked(search, rounds, start=0.0, tell=told):
    lanes = toy_lanes([0])
    lanes.starts.latents[:] = 0
    lanes.starts.latents[..., 0] = start
    state, seen = search.begin(lanes), []
    for _ in range(rounds):
        proposal = search.ask(state, lanes)
        feedback = tell(proposal)
        seen.append((proposal, feedback, state))
        state = search.tell(state, lanes, proposal, feedback)
        if bool(state["done"][0]):
            break
    return seen, state


def test_it_goes_straight_to_a_sheet_a_three_hundredth_thick():
    """m_t = 2 - 3x and m_r = m_t + 0.01 disagree where 2/3 <= x < 2/3 + 1/300; s is linear, so that its zero is hit at once."""
    seen, _ = walked(Frontier(hops=0, reach=1), 40)
    assert [p.latents[0, 0].item() for p, _, _ in seen] == pytest.approx([0, (2 + DELTA / 2) / 3])
    assert [bool(f.failed[0]) for _, f, _ in seen] == [False, True]
    cut = [p.latents[0, 0].item() for p, _, _ in walked(Frontier(hops=0, reach=0.1), 40)[0]]
    assert cut[1] == pytest.approx(0.1 * 3**0.5), "a tenth of the length of a latent of three coordinates"


def test_it_looks_between_the_two_sides_where_the_way_is_not_straight():
    """s = x^3 - 0.2, from above: the steps along the tangent stop when the sign changes, and looks without gradients follow."""

    def bent(proposal):
        tested = 0.2 - proposal.latents[:, 0] ** 3
        slopes = torch.zeros(1, 2, 3)
        slopes[:, 0, 0] = -3 * proposal.latents[:, 0] ** 2
        return Feedback(torch.stack([tested] * 2, 1), tested.abs() < 1e-3, torch.ones(1).long(), slopes)

    seen, _ = walked(Frontier(hops=0), 40, start=0.1, tell=bent)
    assert bool(seen[-1][1].failed[0]) and abs(seen[-1][0].latents[0, 0].item() - 0.2 ** (1 / 3)) < 2e-3
    crossing = [bool(s["crossing"][0]) for _, _, s in seen]
    assert crossing == sorted(crossing) and crossing[-1], "down first, then across"
    assert [int(p.wants[0]) == Want.SCORES for p, _, _ in seen] == crossing


def test_it_walks_along_the_boundary_without_gradients_and_ends_after_its_hops():
    seen, state = walked(Frontier(hops=3), 200)
    hits = [p.latents[0] for p, f, _ in seen if bool(f.failed[0])]
    assert bool(state["done"][0]) and len(hits) == 4
    assert all(2 / 3 <= h[0] < 2 / 3 + DELTA / 3 for h in hits)
    assert len({round(float(h[1]), 6) for h in hits}) == len(hits), "each somewhere else"
    after = [int(p.wants[0]) for p, _, s in seen if int(s["hop"][0])]
    assert set(after) == {Want.SCORES}, "the slope is known by then"


def test_a_gradient_is_asked_for_again_where_the_known_one_does_not_lead_back():
    search, lanes = Frontier(blind=2), toy_lanes([0])
    state = search.begin(lanes) | {"hop": torch.ones(1, dtype=torch.long)}
    for step, want in ((0, Want.SCORES), (1, Want.SCORES), (2, Want.GRADIENTS)):
        state["step"] = torch.tensor([step])
        assert int(search.ask(state, lanes).wants[0]) == want


def test_the_known_slope_is_corrected_by_what_the_last_step_has_shown():
    """Half of the way was to be covered and nothing came of it but a quarter: the way is half as steep as was thought."""
    search, lanes = Frontier(), toy_lanes([0])
    state = search.begin(lanes) | {"last": torch.tensor([4.0]), "covered": torch.tensor([0.5])}
    state["slopes"] = torch.ones_like(state["slopes"])
    known = search._slopes(state, torch.tensor([3.0]), torch.tensor([False]), torch.zeros_like(state["slopes"]))
    assert known.flatten().tolist() == [0.5] * 3


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


@pytest.mark.parametrize(
    "settings", [{"steps": 0}, {"looks": 0}, {"hops": -1}, {"stride": 0}, {"stride": 1}, {"reach": 0}]
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(RecipeError):
        Frontier(**settings)
