"""Runs as suites: what their origins and failures cover, side by side."""

from pathlib import Path

import pytest
import torch

import foible
from foible.errors import DataError, RecipeError
from foible.measuring.command import Request, measure
from foible.measuring.runs import aims_text
from foible.testing import toys
from foible.testing.toys import toy_recipe, write_toy_images

MODEL = f"{Path(toys.__file__)}:ToyClassifier"


@pytest.fixture(scope="module")
def guided(tmp_path_factory):
    """Two runs, one of them guided by coverage."""
    folder = tmp_path_factory.mktemp("runs")
    toy_images = write_toy_images(folder / "toys")
    plain = {"baseline": {"attempts": 0}, "validators": [], "generator": "pixels"}
    for name, weight in (("guided", 1.0), ("plain", 0.0)):
        search = {"use": "dlfuzz", "radius": 3.0, "criterion": "nbc", "weight": weight}
        objective = {"use": "covering", "pull": "next", "criterion": "nbc", "patience": 1, "tries": 1}
        recipe = toy_recipe(toy_images, **plain, name=name, search=search, objective=objective)
        assert sum(1 for _ in foible.run(recipe, folder / name).findings())
    return toy_images, [folder / "guided", folder / "plain"]


def test_every_run_is_scored_under_every_criterion(guided):
    images, runs = guided
    outcome = measure(Request(MODEL, str(images), runs=runs, criteria=("nc", "kmnc", "nlc"), layers=("bars",)))
    suites = outcome.measurement.suites
    assert [s.name for s in suites] == [
        "guided",
        "guided: starting images",
        "plain",
        "plain: starting images",
        "control",
    ]
    for whole, origins in zip(suites[0:4:2], suites[1:4:2], strict=True):
        assert whole.inputs == 2 * origins.inputs
        assert all(w.covered >= o.covered for o, w in zip(origins.criteria[:2], whole.criteria[:2], strict=True))
    lines = aims_text(runs)
    assert lines[0].startswith("guided, tested: ") and lines[0].endswith("not reached in the budget")


def test_runs_that_cannot_be_measured_are_named(guided, tmp_path):
    images, runs = guided
    with pytest.raises(RecipeError, match="suites of their own"):
        measure(Request(MODEL, str(images), runs=runs, images=images))
    with pytest.raises(DataError, match="has images of shape"):
        measure(Request("mnist-lenet5", "mnist", runs=runs, data="sample", criteria=("nc",)))
    quiet = toy_recipe(
        images, name="quiet", search={"use": "pgd", "radius": 0.001}, baseline={"attempts": 0}, validators=[]
    )
    foible.run(quiet, tmp_path / "quiet")
    with pytest.raises(DataError, match="no failures to measure"):
        measure(Request(MODEL, str(images), runs=[tmp_path / "quiet"], criteria=("nc",), layers=("bars",)))


def test_what_a_run_shares_can_be_read(guided):
    shared = foible.open_run(guided[1][0]).shared()
    assert int(shared["tested.profile.moments.total"]) == 12 and bool(
        shared["tested.covered.farthest"].isfinite().all()
    )
    assert shared["tested.given_up"].dtype == torch.int32
