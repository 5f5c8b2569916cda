"""Steps down two columns inside a ball: with a pencil, and what DeepXplore and DLFuzz make of them."""

from dataclasses import replace

import pytest
import torch

import foible
from foible.errors import RecipeError
from foible.generators.pixels import Pixels
from foible.protocols import Lanes
from foible.searches.ball import projected, radius_of
from foible.searches.constraints import allowed
from foible.searches.deepxplore import DeepXplore
from foible.searches.dlfuzz import DLFuzz
from foible.searches.joint import PGD, Joint
from foible.seeding import Streams
from foible.testing.play import toy_lanes
from foible.testing.toys import toy_recipe
from foible.types import Feedback, LatentSpace, Starts, Want

SPACE = LatentSpace((2,), torch.tensor(-10.0), torch.tensor(10.0), torch.tensor(1.0))


def test_a_ball_is_left_by_nobody_and_the_bounds_by_nobody_either():
    origin, far = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]])
    assert torch.allclose(projected(far, origin, SPACE, "l2", 2.5), torch.tensor([[1.5, 2.0]]), atol=1e-4)
    assert torch.allclose(projected(far, origin, SPACE, "linf", 3.5), torch.tensor([[3.0, 3.5]]), atol=1e-4)
    narrow = replace(SPACE, high=torch.tensor(1.0))
    assert torch.equal(projected(far, origin, narrow, "l2", 100.0), torch.tensor([[1.0, 1.0]]))


def test_a_radius_that_is_not_given_is_a_share_of_what_latents_vary():
    assert radius_of(SPACE, "l2", None) == pytest.approx(0.25 * 2**0.5)
    assert radius_of(SPACE, "linf", None) == 0.25 and radius_of(SPACE, "linf", 3.0) == 3.0


def test_gradients_are_normalised_each_by_itself():
    """A steep column does not drown a flat one: both have weight 1, whatever their scale."""
    gradients = torch.tensor([[[100.0, 0.0], [0.0, 0.01]]])
    feedback = Feedback(torch.zeros(1, 2), torch.zeros(1).bool(), torch.ones(1).long(), gradients)
    starts = Starts(torch.tensor([0]), torch.zeros(1, 1, 2), torch.zeros(1, 1).long(), torch.full((1, 1), -1))
    lanes = Lanes(starts, SPACE, Streams(0))
    search = Joint(step=1.0, radius=1.0, weight=1.0)
    state = search.tell(search.begin(lanes), lanes, search.ask(search.begin(lanes), lanes), feedback)
    assert torch.allclose(state["latents"], torch.tensor([[-(0.5**0.5), -(0.5**0.5)]]), atol=1e-3)


def test_without_weight_the_second_gradient_is_not_asked_for():
    assert Joint(weight=0.0).follows == (0,) and Joint(weight=0.1).follows == (0, 1) and PGD().follows == (0,)
    assert (
        Joint(normalise="sum").mixes == (1.0, 0.1) and Joint().mixes == Joint(weight=0.0, normalise="sum").mixes == ()
    )


def picture_lanes():
    shape = (1, 28, 28)
    starts = Starts(torch.arange(3), torch.full((3, 1, *shape), 0.5), torch.zeros(3, 1).long(), torch.full((3, 1), -1))
    return Lanes(starts, Pixels(shape).space, Streams(0))


def test_constraints_say_what_may_change():
    lanes, rng = picture_lanes(), torch.Generator().manual_seed(0)
    directions = torch.randn(3, 1, 28, 28, generator=rng) - 0.5
    light = allowed(directions, "light", lanes, torch.zeros(3).long())
    assert torch.allclose(light, directions.mean((1, 2, 3), keepdim=True).expand_as(light))
    first, later = (allowed(directions, "occlusion", lanes, torch.full((3,), step)) for step in (0, 7))
    assert torch.equal(first, later) and [int(row.count_nonzero()) for row in first] == [100, 100, 100]
    dark = allowed(directions, "blackout", lanes, torch.zeros(3).long())
    assert float(dark.max()) == 0 and [int(row.count_nonzero()) for row in dark] == [36, 36, 36]
    assert not torch.equal(dark, allowed(directions, "blackout", lanes, torch.ones(3).long()))


def test_a_constraint_on_what_is_no_picture_is_refused():
    with pytest.raises(RecipeError, match="needs pictures"):
        Joint(constraint="light").begin(toy_lanes([0]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Joint(norm="l7"), "norm 'l7'"),
        (lambda: Joint(radius=0.0), "radius 0.0"),
        (lambda: Joint(step=0.0), "step 0.0"),
        (lambda: Joint(weight=-1.0), "weight -1.0"),
        (lambda: Joint(constraint="fog"), "constraint 'fog'"),
        (lambda: DLFuzz(room=0), "room 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, message):
    with pytest.raises(RecipeError, match=message):
        make()


def test_deepxplore_takes_installed_classifiers_as_partners():
    assert DeepXplore().suggests(["a", "b", "c"])["classifiers"] == {"rival": "a", "another": "b"}
    assert "classifiers" not in DeepXplore().suggests(["a"])


def test_dlfuzz_goes_on_from_what_covered_more():
    """A candidate that adds enough is queued as it was, and taken up when the steps from the first are used up."""
    search, lanes = DLFuzz(steps=1, radius=1.0, rise=0.1, criterion="nbc"), toy_lanes([0])

    def round_of(state, gain):
        proposal = search.ask(state, lanes)
        slopes = torch.ones(1, 2, 3)
        told = Feedback(
            torch.zeros(1, 2), torch.zeros(1).bool(), torch.ones(1).long(), slopes, {"gain": torch.tensor([gain])}
        )
        return proposal, search.tell(state, lanes, proposal, told)

    first, state = round_of(search.begin(lanes), 0.05)
    assert torch.equal(first.latents, lanes.origins) and first.wants.tolist() == [Want.GRADIENTS]
    second, state = round_of(state, 0.5)
    assert second.wants.tolist() == [Want.SCORES] and not bool(state["done"])
    third, state = round_of(state, 0.5)
    assert torch.equal(third.latents, second.latents), "the queue holds what was queued, not what became of it"
    _, state = round_of(state, 0.5)
    assert bool(state["done"]), "nothing has covered more since"


def test_what_dlfuzz_finds_lies_in_the_ball_and_is_counted_once(toy_images, tmp_path):
    search = {"use": "dlfuzz", "radius": 2.0, "criterion": "nbc", "rise": 0.0}
    recipe = toy_recipe(toy_images, generator="pixels", search=search, baseline={"attempts": 0}, validators=[])
    findings = list(foible.run(recipe, tmp_path / "run").findings())
    assert findings and all(f.pixel_distance <= 2.0 + 0.02 for f in findings)
    assert len({f.attempt for f in findings}) == len(findings)
