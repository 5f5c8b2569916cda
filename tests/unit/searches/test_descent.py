"""Descent: what it asks for, when it looks through variations, how far it goes."""

import pytest
import torch

import foible
from foible.errors import RecipeError
from foible.objectives.nearest import FAR, STEADY, Nearest
from foible.searches.descent import Descent
from foible.testing.play import toy_lanes
from foible.testing.toys import toy_recipe
from foible.types import TESTED, Evaluation, Feedback, Want


def told(proposal, margin, failed=False, slope=-1.0):
    count = len(proposal.lanes)
    slopes = torch.zeros(count, 2, *proposal.latents.shape[1:])
    slopes[:, 0] = slope
    scores = torch.tensor([[margin, 0.0]]).expand(count, 2)
    return Feedback(scores, torch.full((count,), failed), torch.ones(count, dtype=torch.long), slopes)


def test_a_steady_search_looks_at_the_image_alone_until_a_failure_is_one_step_away():
    lanes, search = toy_lanes([0]), Descent(keep=0.0)
    state = search.begin(lanes)
    seen = []
    for margin, failed in ((1000.0, False), (0.001, False), (0.5, False), (-0.5, True), (-0.1, True)):
        proposal = search.ask(state, lanes)
        seen.append(Want(int(proposal.wants[0])))
        state = search.tell(state, lanes, proposal, told(proposal, margin, failed))
    assert seen == [Want.GUIDE, Want.GUIDE, Want.GRADIENTS, Want.GRADIENTS, Want.SCORES]


def test_a_failure_that_only_the_image_alone_shows_is_ranked_after_all_that_were_looked_at_through_variations():
    logits = torch.tensor([[1.0, 3.0]])
    rest = (torch.ones(1, 1), torch.zeros(1, 1, 2, 2), torch.zeros(1, 1), torch.tensor([0]), torch.tensor([-1]))
    objective = Nearest(variations=1, keep=0.5)
    quick = objective(Evaluation(*rest, {TESTED: logits}))
    steady = objective(Evaluation(*rest, {TESTED: logits, STEADY: torch.tensor([[[2.0, 2.0]]])}))
    hardly = objective(Evaluation(*rest, {TESTED: torch.tensor([[2.0, 2.25]]), STEADY: torch.tensor([[[0.0, 9.0]]])}))
    undone = objective(Evaluation(*rest, {TESTED: logits, STEADY: torch.tensor([[[9.0, 2.0]]])}))
    assert quick.tolist() == [[-2.0, 2 * FAR - 2]]
    assert steady.tolist() == [[-1.0, 1.0]], "the mean of -2 and 0, at a distance of 1"
    assert hardly.tolist() == [[-0.25, FAR - 0.25]], "a variation that fails by far does not speak for the image"
    assert undone.tolist() == [[2.5, FAR + 2.5]]


def test_no_step_is_longer_than_its_reach():
    lanes = toy_lanes([0])
    steps = {}
    for reach in (0.05, 0.2):
        search = Descent(steady=False, reach=reach)
        state = search.begin(lanes)
        state = search.tell(state, lanes, proposal := search.ask(state, lanes), told(proposal, 1000.0))
        steps[reach] = float((state["latents"] - lanes.origins).norm())
    assert steps[0.2] == pytest.approx(4 * steps[0.05], rel=1e-4) and steps[0.05] > 0
    with pytest.raises(RecipeError, match="reach 0 must be above 0"):
        Descent(reach=0)


def test_pixels_are_a_latent_space_like_any_other(toy_images, tmp_path):
    """The ordinary attack on pixels is a row of the same engine."""
    recipe = toy_recipe(
        toy_images,
        generator="pixels",
        search={"use": "descent", "steady": False, "keep": 0.1},
        attempts=4,
        validators=[],
    )
    run = foible.run(recipe, tmp_path / "run")
    found = list(run.findings())
    assert len(found) == 4
    assert all(f.pixel_distance == pytest.approx(f.latent_distance, abs=0.05) for f in found), "up to 8-bit rounding"


def test_what_is_shown_of_a_search_under_way_is_its_margin_though_findings_are_ranked_by_distance(toy_images, tmp_path):
    run = foible.run(toy_recipe(toy_images, search={"use": "descent", "steady": False}, attempts=4), tmp_path / "run")
    assert run.manifest.recipe["rank"] == "distance"
    assert (run.progress()["column"], run.progress()["goal"]) == ("margin", 0.0)
    assert all(outcome.best_score < 0 for outcome in run.outcomes() if outcome.findings)


def test_every_failure_means_the_nearest_one_of_each_wrong_class(toy_images, tmp_path):
    settings = {"use": "descent", "steady": False, "keep": 0.1}
    recipe = toy_recipe(toy_images, search=settings, keeps="every", attempts=6, validators=[])
    run = foible.run(recipe, tmp_path / "every")
    found = list(run.findings())
    assert {o.attempt: o.findings for o in run.outcomes()} == dict.fromkeys(range(6), 2), "there are two wrong classes"
    assert all({f.predicted for f in found if f.attempt == k} == {0, 1, 2} - {k % 3} for k in range(6))
    best = {f.attempt: f for f in foible.run({**recipe, "keeps": "best"}, tmp_path / "best").findings()}
    first = [f for f in found if f.number == 0]
    assert [(f.attempt, f.predicted) for f in first] == [(k, f.predicted) for k, f in sorted(best.items())]
    assert all(torch.equal(f.latent, best[f.attempt].latent) for f in first), "the nearest class first"


REFUSES = '''
from foible.records import Verdict


class Right:
    """Refuses whatever is brightest at the {side}."""

    name = "right"

    def __call__(self, images, labels):
        bars = images[:, 0, 0, ::2]
        return [(Verdict("right", a != {bar}, float(a != {bar}), "label"),) for a in bars.argmax(1).tolist()]
'''


@pytest.mark.parametrize("steers", [False, True])
def test_where_the_judge_refuses_a_wrong_class_the_search_goes_for_another(toy_images, tmp_path, steers):
    path = tmp_path / "right.py"
    path.write_text(REFUSES.format(side="right", bar=2))
    recipe = toy_recipe(
        toy_images,
        search={"use": "descent", "steady": False, "keep": 0.1},
        validators=[f"{path}:Right"],
        classes=["left", "middle"],
        steers=steers,
        steadiness=False,
        attempts=8,
    )
    run = foible.run(recipe, tmp_path / "run")
    found = list(run.findings())
    assert len(found) == 8
    assert all(f.counts for f in found) is steers, "without its say some go to the right, with it none does"
