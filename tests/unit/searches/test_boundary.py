"""Boundary searches: what is found lies beyond the border and near it; what is not found is not returned."""

import pytest
import torch

import foible
from foible.classifiers.stored import AsStored
from foible.errors import RecipeError
from foible.objectives.boundary import Boundary, top_two
from foible.registry import build
from foible.testing.toys import ToyClassifier, toy_recipe, write_toy_images
from foible.types import Evaluation, Status

SEARCHES = {
    "shrink": {"use": "shrink"},
    "shrink, with gradients": {"use": "shrink", "gradients": True},
    "compat": {"use": "boundary-genetic", "generations": 60},
    "repaired": {"use": "boundary-genetic", "generations": 60, "compat": False},
}


def evaluation(logits, latents, origins, target=-1):
    count = len(logits)
    labels, targets = torch.zeros(count, dtype=torch.long), torch.full((count,), target)
    return Evaluation(latents, torch.zeros(count, 1, 6, 6), origins, labels, targets, {"tested": logits})


def test_the_columns_by_hand():
    logits = torch.tensor([[0.0, 1.0, -50.0], [2.0, 1.0, 0.0]])
    origins = torch.zeros(2, 3)
    latents = torch.tensor([[3.0, 0.0, -4.0], [1.0, 1.0, 1.0]])
    crossed, inside = Boundary()(evaluation(logits, latents, origins))
    gap = (torch.e - 1) / (torch.e + 1)
    assert crossed.tolist() == pytest.approx([-1, 7, gap, 7, 5, 2, 1, 0], abs=1e-5)
    assert inside[0] == 1 and inside[1] > 1e5, "what has not crossed comes after all that has"


def test_equal_probabilities_have_no_gap_and_the_lower_class_comes_first():
    gaps, (first, second) = top_two(torch.tensor([[1.0, 5.0, 5.0]]))
    assert (float(gaps), int(first), int(second)) == (0.0, 1, 2)


def test_images_are_looked_at_as_they_would_be_stored_and_gradients_pass():
    images = torch.full((1, 1, 6, 6), 0.5001, requires_grad=True)
    look = AsStored(ToyClassifier())
    logits = look(images)
    assert logits[0, 0].item() == pytest.approx(10 * 128 / 255) and look.name == "toy-classifier"
    logits.sum().backward()
    assert bool((images.grad > 0).all())


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_every_finding_has_crossed_and_says_where_it_is(search, tmp_path):
    images = write_toy_images(tmp_path / "toys")
    facts = toy_recipe(images, attempts=9, search=search, baseline={"attempts": 0}, validators=[])
    del facts["budget"]
    run = foible.run(facts, tmp_path / "run")
    findings = list(run.findings())
    assert len(findings) == run.counts()[Status.FOUND] >= 8
    for finding in findings:
        moved = (finding.latent - finding.origin_latent).flatten()
        assert finding.predicted != finding.label
        assert finding.measures["l1"] == pytest.approx(float(moved.abs().sum()), rel=1e-5)
        assert finding.measures["changed"] == int((moved != 0).sum())
        assert {finding.measures["first"], finding.measures["second"]} == {finding.label, finding.predicted}
        first, second = sorted(finding.probabilities, reverse=True)[:2]
        assert finding.measures["gap"] == pytest.approx(first - second, abs=1e-5), "that of the stored image"
        if search["use"] == "shrink":
            assert finding.measures["gap"] < 0.02


TIMID = {
    "shrink": {"use": "shrink", "spread": 1e-3, "tries": 2},
    "shrink, with gradients": {"use": "shrink", "gradients": True, "tries": 1},
    "compat": {"use": "boundary-genetic", "spread": 1e-3, "generations": 2},
    "repaired": {"use": "boundary-genetic", "spread": 1e-3, "generations": 2, "compat": False},
}


@pytest.mark.parametrize("search", TIMID.values(), ids=TIMID)
def test_a_search_that_never_crosses_has_no_result(search, tmp_path):
    facts = toy_recipe(write_toy_images(tmp_path / "toys"), attempts=3, search=search, baseline={"attempts": 0})
    run = foible.run(facts | {"validators": []}, tmp_path / "run")
    assert run.counts()[Status.HELD] == 3 and not list(run.findings())


def test_shrinking_needs_fewer_evaluations_than_the_published_search(tmp_path):
    images = write_toy_images(tmp_path / "toys")
    spent = {}
    for name in ("shrink", "compat"):
        facts = toy_recipe(images, search=SEARCHES[name], baseline={"attempts": 0}, validators=[])
        del facts["budget"]
        run = foible.run(facts, tmp_path / name)
        spent[name] = sum(o.evaluations for o in run.outcomes())
    assert spent["shrink"] < spent["compat"] / 2


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("shrink", {"batch": 0}),
        ("shrink", {"spread": 0.0}),
        ("shrink", {"depth": -1.0}),
        ("boundary-genetic", {"survivors": 50}),
        ("boundary-genetic", {"spread": 0.0}),
    ],
)
def test_settings_that_make_no_sense_are_refused(name, parameters):
    with pytest.raises(RecipeError, match=name):
        build("searches", name, parameters)
