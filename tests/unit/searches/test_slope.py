"""Steps down a slope, by pencil: a plane is crossed in one step, a narrow valley is followed instead of crossed."""

import math

import pytest
import torch

from foible.protocols import Lanes
from foible.searches.slope import GROWTH, LONGEST, cut, downhill, natural_length
from foible.seeding import Streams
from foible.types import LatentSpace, Starts

FLAT = torch.zeros(1, 2)


def plane_of(start):
    """One search in a plane of two coordinates that vary by 1 each."""
    wide = torch.full((2,), 100.0)
    space = LatentSpace((2,), -wide, wide, torch.ones(2))
    return Lanes(
        Starts(torch.arange(1), start[:, None], torch.zeros(1, 1).long(), -torch.ones(1, 1).long()), space, Streams(0)
    )


def standing(start, heading=FLAT, margin=torch.inf, reach=LONGEST):
    return {"latents": start, "heading": heading, "margin": torch.tensor([margin]), "reach": torch.tensor([reach])}


def valley(latents):
    """A margin that falls slowly along the first coordinate and rises steeply to both sides: 4 - x + 5 |y|."""
    x, y = latents[0].tolist()
    return torch.tensor([4 - x + 5 * abs(y)]), torch.tensor([[-1.0, math.copysign(5, y)]])


def steps_down(longest, most=100):
    """How many steps down the valley it takes to fail, or None."""
    start = torch.tensor([[0.0, 0.1]])
    lanes, state = plane_of(start), standing(start)
    for step in range(most):
        margin, slope = valley(state["latents"])
        if margin < 0:
            return step
        down = downhill(state, lanes, margin, slope, 0.0, 0.1, longest=longest)
        if down["stuck"]:
            return None
        state = {"latents": down["latents"], "heading": down["heading"], "margin": margin, "reach": down["reach"]}
    return None


def test_a_plane_is_crossed_by_the_linear_guess():
    start = torch.zeros(1, 2)
    down = downhill(
        standing(start, reach=9.0), plane_of(start), torch.tensor([5.0]), torch.tensor([[-3.0, -4.0]]), 1.0, 0.5
    )
    assert down["latents"][0].tolist() == pytest.approx([9 / 5 * 0.6, 9 / 5 * 0.8]), "(5 + 1) * 1.5 / 5 downwards"
    assert bool(down["near"]) and not bool(down["stuck"])


def test_a_step_keeps_half_of_its_last_heading_and_goes_as_far_as_the_margin_falls_along_both():
    start = torch.zeros(1, 2)
    state = standing(start, heading=torch.tensor([[1.0, 0.0]]), reach=9.0)
    down = downhill(state, plane_of(start), torch.tensor([1.0]), torch.tensor([[0.0, 2.0]]), 0.0, 0.0, longest=9.0)
    along = 1 / math.sqrt(1.25)  # (0, 1) + half of (1, 0), made as long as 1
    assert down["heading"][0].tolist() == pytest.approx([along / 2, along])
    assert down["latents"][0].tolist() == pytest.approx([-0.25, -0.5]), "where the plane 1 + 2 y is zero"


@pytest.mark.parametrize(
    ("last", "longest", "reach"),
    [(2.0, 0.35, 0.1 * GROWTH), (0.5, 0.35, 0.05), (2.0, 0.1, 0.1), (2.0, None, 0.1), (math.inf, 0.35, 0.1)],
)
def test_the_reach_is_halved_where_the_margin_rose_and_grows_where_it_falls(last, longest, reach):
    start = torch.zeros(1, 2)
    state = standing(start, margin=last, reach=0.1)
    down = downhill(state, plane_of(start), torch.tensor([1.0]), torch.tensor([[1.0, 0.0]]), 0.0, 0.0, longest=longest)
    assert float(down["reach"]) == pytest.approx(reach)


def test_a_narrow_valley_is_followed_with_inertia_where_steps_straight_down_get_stuck_between_its_walls():
    assert steps_down(None) is None
    assert steps_down(LONGEST) < 40, "as many steps as a descent may make"


def test_where_there_is_no_slope_it_is_stuck_and_stays():
    start = torch.ones(1, 2)
    down = downhill(standing(start), plane_of(start), torch.tensor([1.0]), FLAT, 0.0, 0.0, longest=LONGEST)
    assert bool(down["stuck"]) and torch.equal(down["latents"], start)
    assert natural_length(plane_of(start).space) == math.sqrt(2)


def test_the_way_back_is_cut_between_its_middle_and_where_a_straight_line_would_fail_by_enough():
    low, high = torch.tensor([0.0, 0.5, 0.0, 0.0]), torch.ones(4)
    above, below = torch.tensor([3.0, 3.0, 9.0, torch.inf]), torch.tensor([-2.0, -2.0, -1.0, -2.0])
    looks = cut(low, high, above, below, keep=1.0)
    # by pencil: -1 lies at .8 of the line from 3 to -2, drawn by .4 to the middle: .68; at the very end: .9, drawn to .74
    assert looks.tolist() == pytest.approx([0.68, 0.5 + 0.5 * 0.68, 0.74, 0.5])


def test_where_the_margins_at_both_ends_do_not_tell_the_middle_is_looked_at():
    one = torch.ones(1)
    assert float(cut(0 * one, one, -2 * one, -3 * one, keep=1.0)) == 0.5, (
        "a failure that the validators refused at the low end"
    )
    assert float(cut(0 * one, one, 3 * one, -0.5 * one, keep=1.0)) == 0.5


def test_cuts_close_in_on_the_border_of_a_bent_margin_faster_than_halvings():
    def margin(place):
        return 4.0 - 5.0 * place**3

    keep, widths = 0.2, {}
    border = (4.2 / 5) ** (1 / 3)
    for name in ("cut", "halved"):
        low, high = torch.zeros(1), torch.ones(1)
        for _ in range(4):
            look = cut(low, high, margin(low), margin(high), keep) if name == "cut" else (low + high) / 2
            fails = margin(look) <= -keep
            low, high = torch.where(fails, low, look), torch.where(fails, look, high)
        assert float(low) < border <= float(high)
        widths[name] = float(high) - border
    assert widths["cut"] < widths["halved"]
