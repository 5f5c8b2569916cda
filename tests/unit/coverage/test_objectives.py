"""What pushes where, with a pencil: the slopes of objectives whose demands have to hold together."""

import pytest
import torch

from foible.coverage import from_values
from foible.registry import build
from tests.unit.coverage.conftest import make


def slopes(name, profile, now, aim, base=None, **settings):
    """The objective at one input, and its slope."""
    criterion = build("coverage", name, {"profile": profile, **settings})
    values = torch.tensor([now], dtype=torch.float32, requires_grad=True)
    start = make([base or now], scope=profile.scope)
    loss = criterion.objective(from_values(values, profile.scope), torch.tensor([[aim]]), base=start)
    (slope,) = torch.autograd.grad(loss.sum(), values)
    return float(loss.detach()), slope[0].tolist()


def test_a_unit_of_nc_rises_and_what_is_above_it_falls(profiled):
    """The threshold lies half way between the extremes: both of them move it, by half as much as the unit itself."""
    _, slope = slopes("nc", profiled([[0.0] * 4, [1.0] * 4]), [0.0, 0.2, 0.5, 1.0], aim=1)
    assert slope[1] < 0 < slope[3] and slope[2] == 0
    assert slope[0] > 0  # raising the floor lowers the unit's place among them


def test_a_unit_on_its_way_to_the_top_passes_all_but_the_first(profiled):
    """k = 2: of three above it one may stay, the other two have to be passed; what is below it has no say."""
    loss, slope = slopes("tknc", profiled([[0.0] * 5, [1.0] * 5]), [0.9, 0.6, 0.5, 0.3, 0.1], aim=3, k=2)
    assert loss == pytest.approx(0.32**2 + 0.22**2, rel=1e-5)
    assert slope[0] == 0 and slope[1] > slope[2] > 0 > slope[3] and slope[4] == 0


def test_a_unit_at_the_top_is_left_alone(profiled):
    loss, slope = slopes("tknc", profiled([[0.0] * 4, [1.0] * 4]), [0.9, 0.2, 0.7, 0.1], aim=2, k=2)
    assert loss == 0 and not any(slope)


class TestPairs:
    """Three condition units and a decision; ranges are 2 and standard deviations 1."""

    @pytest.fixture
    def profile(self, profiled):
        return profiled([[-1.0] * 4, [1.0] * 4], (3, 1))

    def test_only_what_is_broken_has_a_say(self, profile):
        """The second condition has changed its sign and may not, the third has not."""
        loss, slope = slopes("ss", profile, [0.2, -0.4, 0.4, 0.6], 0, base=[0.2, 0.4, 0.4, 0.6])
        assert loss == pytest.approx(0.12**2 + 0.22**2 + 0.32**2, rel=1e-5)
        assert slope[0] > 0 and slope[1] < 0 and slope[2] == 0 and slope[3] > 0

    def test_nothing_pushes_once_all_is_met(self, profile):
        loss, slope = slopes("ss", profile, [-0.2, 0.4, 0.4, -0.6], 0, base=[0.2, 0.4, 0.4, 0.6])
        assert loss == 0 and not any(slope)

    @pytest.mark.parametrize(
        ("start", "way"),
        [
            (2.5, -1),  # above its mean, and far enough from zero: down
            (0.5, 1),  # zero is too near: away from it
            (-0.5, -1),
            (-2.5, 1),
        ],
    )
    def test_a_value_moves_towards_its_mean_where_its_sign_allows_that(self, profile, start, way):
        _, slope = slopes("vv", profile, [start, 2.5, 2.5, 2.5], aim=0)
        assert slope[0] * way < 0 and slope[3] > 0
