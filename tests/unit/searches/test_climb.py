"""Climbing to a wanted surprise: the published sweep by hand, the secant, and a run over the toys."""

import pytest
import torch

import foible
from foible.errors import ModelError, RecipeError
from foible.objectives.surprise import Surprise, last_hidden
from foible.protocols import Setting
from foible.searches.climb import MOST, PATIENCE, Climb
from foible.testing.play import evaluated, toy_data, toy_lanes, toy_roles
from foible.testing.toys import ToyClassifier, toy_recipe, write_toy_images
from foible.types import TESTED, Feedback

CPU = torch.device("cpu")


def told(search, state, lanes, score):
    """One round against a score of latents: what is lacking to 1 (columns: share, lack)."""
    proposal = search.ask(state, lanes)
    lacks = 1 - score(proposal.latents)
    scores = torch.stack([lacks.abs(), lacks, 1 - lacks], 1)
    some = torch.ones(len(scores), dtype=torch.bool)
    return proposal, search.tell(state, lanes, proposal, Feedback(scores, some, some.long()))


def test_on_a_straight_slope_the_second_round_arrives():
    """Where the surprise changes evenly along the last move, the secant is exact."""
    search, lanes = Climb(batch=4, within=1e-5), toy_lanes([0, 1])
    state = search.begin(lanes)
    slope = lambda z: 0.6 + 0.3 * z.flatten(1).sum(1)  # noqa: E731
    rounds = 0
    while not bool(state["done"].all()) and rounds < 9:
        _, state = told(search, state, lanes, slope)
        rounds += 1
    assert bool((state["loss"] <= 1e-5).all()) and rounds <= 8


def test_a_hill_that_leads_nowhere_is_left_by_a_large_step():
    search, lanes = Climb(batch=4), toy_lanes([0])
    state = search.begin(lanes)
    seen = []
    for _ in range(PATIENCE + 2):
        _, state = told(search, state, lanes, lambda z: torch.full((len(z),), 0.5))
        seen.append((float(state["loss"]), float(state["step"])))
    assert [loss for loss, _ in seen] == [0.5] * PATIENCE + [float("inf"), 0.5]
    assert seen[-2][1] == MOST > seen[-3][1]


def test_the_published_sweep_tries_the_origin_then_one_coordinate_after_the_other():
    search, lanes = Climb(compat=True, step=1.0, within=1e-9), toy_lanes([5])
    state, origin = search.begin(lanes), lanes.origins[0]
    asked, _ = told(search, state, lanes, lambda z: 0 * z[:, 0])
    assert torch.equal(asked.latents[0], origin)
    for k in range(4):
        before = state
        asked, state = told(search, state, lanes, lambda z: 0.3 * z[:, 1])
        moved = (asked.latents[0] != before["held"][0]).nonzero().flatten().tolist()
        assert moved == ([] if k == 0 else [k - 1])
        better = bool(state["loss"] < before["loss"])
        assert torch.equal(state["held"][0], asked.latents[0] if better else before["held"][0])
        assert better <= (k in (0, 2)), "only the origin and the second coordinate can help"


def test_after_a_sweep_without_a_move_it_ends_and_after_one_with_the_step_is_that_of_the_moves():
    search, lanes = Climb(compat=True, step=1.0, within=1e-9), toy_lanes([5])
    state = search.begin(lanes)
    for _ in range(4):
        _, state = told(search, state, lanes, lambda z: 0 * z[:, 0])
    assert bool(state["done"][0])
    state = search.begin(lanes) | {
        "round": torch.tensor([4]),
        "moved": torch.tensor([2.0]),
        "length": torch.tensor([3.0]),
    }
    assert float(search._swept(state, torch.tensor([False]), lanes)["step"][0]) == 1.5, "3 / 2 is more than 2 / 3"
    halving = Climb(compat=True, halve=True, step=1.0)
    assert float(halving._swept(state, torch.tensor([False]), lanes)["step"][0]) == 0.5


def test_surprise_is_that_of_the_coverage_room_and_of_the_wanted_side():
    objective = Surprise(wanted=3.0, images=60)
    roles = toy_roles(objective)
    shared = objective.start(Setting(roles, toy_data(60), CPU))
    lanes = toy_lanes([0, 1, 2])
    seen = evaluated(lanes.origins, lanes, torch.arange(3), roles, dict(objective.reads), shared=shared)
    away, lacks, surprise = objective(seen).T
    assert objective.layer == "bars" and torch.allclose(surprise + lacks, torch.full((3,), 3.0))
    assert torch.allclose(away, lacks.abs() / 3)
    from scipy.stats import gaussian_kde

    density = gaussian_kde(shared["traces"].double().numpy().T)
    expected = -density.logpdf(seen.activations[TESTED]["bars"].double().numpy().T)
    assert surprise.tolist() == pytest.approx(expected.tolist(), rel=1e-4)


def test_a_run_keeps_the_image_nearest_to_the_wanted_surprise(tmp_path):
    facts = toy_recipe(write_toy_images(tmp_path / "toys"), attempts=6, baseline={"attempts": 0}, validators=[])
    facts |= {"search": {"use": "climb", "within": 0.05}, "objective": {"use": "surprise", "wanted": 2.0}}
    run = foible.run(facts, tmp_path / "run")
    found = list(run.findings())
    assert len(found) == 6 and all(f.measures["away"] <= 0.05 for f in found)
    assert all(abs(f.measures["surprise"] - 2) <= 0.1 for f in found)


class Blind:
    """A classifier that shows nothing of what is inside it."""

    name, classes, offers = "blind", ToyClassifier().classes, frozenset()

    def __call__(self, images):
        return ToyClassifier()(images)


def test_bad_input_is_named(tmp_path):
    with pytest.raises(ModelError, match="'blind' lends no activations"):
        last_hidden(Blind())
    facts = toy_recipe(write_toy_images(tmp_path / "toys"), search="climb", baseline={"attempts": 0}, validators=[])
    with pytest.raises(ModelError, match="lends no activations"):
        foible.run(facts, tmp_path / "run", classifier=Blind())
    with pytest.raises(RecipeError, match="wanted"):
        Surprise(wanted=0)
    with pytest.raises(RecipeError, match="batch 0"):
        Climb(batch=0)


def test_the_layer_before_the_last_linear_one_is_found():
    from foible.classifiers.adapted import AdaptedClassifier

    module = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(36, 5), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(5, 3)
    )
    assert last_hidden(AdaptedClassifier("net", module, ("a", "b", "c"))) == "2"
