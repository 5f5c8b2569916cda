"""What a recipe leaves out is written in, and what it says wrongly is named before there is a folder."""

import shutil

import pytest
import torch

import foible
from foible.campaign import assemble, load_recipe
from foible.campaign.evaluate import Evaluator
from foible.errors import CheckError, RecipeError
from foible.objectives.surrogates import SURROGATES
from foible.searches.transfer import Transfer
from foible.testing import toys
from foible.testing.play import toy_lanes
from foible.testing.toys import ToyClassifier, toy_recipe
from foible.types import TESTED, Want
from foible.zoo import entry

STAND_IN = {"surrogate": {"use": f"{toys.__file__}:ToyClassifier", "name": "stand-in", "bias": 0.25}}


class Letters(ToyClassifier):
    def __init__(self):
        super().__init__("letters", bias=0.5)
        self.classes = ("a", "b", "c")


class OtherFormat(ToyClassifier):
    """The same classifier, whose last bits are others."""

    def inspect(self, images, layers):
        scores, said = super().inspect(images, layers)
        return scores + 1e-5, said


class Blind(ToyClassifier):
    def inspect(self, images, layers):
        scores, said = super().inspect(images, layers)
        return -scores, said


@pytest.mark.parametrize(
    ("surrogate", "message"),
    [
        (Letters(), r"'letters' knows 3 classes \(a, b, c, ...\), and not those of"),
        (ToyClassifier("twin"), "'twin' gives the same scores as 'toy-classifier', which is tested"),
        (OtherFormat("exported"), "'exported' gives the same scores"),
    ],
)
@pytest.mark.parametrize("search", [{"use": "transfer"}, {"use": "descent", "alone": 1}])
def test_a_surrogate_that_can_show_nothing_is_named(toy_images, tmp_path, surrogate, message, search):
    with pytest.raises(CheckError, match=message):
        foible.run(toy_recipe(toy_images, search=search), tmp_path / "run", classifiers={"surrogate": surrogate})
    assert not (tmp_path / "run").exists()


def test_a_surrogate_that_is_mostly_wrong_is_a_warning(toy_images):
    recipe = toy_recipe(toy_images, search={"use": "descent", "alone": 1})
    lines = foible.check(recipe, classifiers={"surrogate": Blind("blind")}).lines
    said = [line for line in lines if line.about == "surrogates"]
    assert [line.level for line in said] == ["warning"] and "hardly shows the way" in said[0].message


def test_a_copy_of_a_classifier_of_the_zoo_is_no_surrogate_of_itself(tmp_path):
    copy = tmp_path / "mine.safetensors"
    shutil.copy(entry("mnist-lenet5").path(), copy)
    campaign = assemble(load_recipe("demo", {"classifier": str(copy), "search.alone": 1, "baseline.attempts": 0}))
    assert [campaign.roles[f"surrogate{k}"].classifier.name for k in range(3)] == [
        "mnist-deepconv",
        "mnist-lenet4",
        "mnist-lenet1",
    ]


def test_an_objective_that_is_named_again_keeps_what_its_search_suggests(toy_images):
    search = {"use": "descent", "alone": 0.5, "variations": 3}
    recipe = toy_recipe(toy_images, search=search, classifiers=STAND_IN, objective={"use": "nearest", "keep": 0.125})
    assert assemble(load_recipe(recipe)).recipe.objective.parameters == {"variations": 3, "alone": 0.5, "keep": 0.125}


def test_a_recipe_that_aims_at_classes_means_failures_that_end_there(toy_images, tmp_path):
    run = foible.run(
        toy_recipe(toy_images, search={"use": "descent", "steady": False}, targets="right", attempts=6),
        tmp_path / "run",
    )
    found = list(run.findings())
    assert len(found) == 6 and {f.predicted for f in found} == {2}
    assert run.manifest.recipe["oracle"] == {"use": "targeted"} and run.manifest.recipe["targets"] == ["right"]
    said = toy_recipe(toy_images, targets=["right"], oracle="misclassified")
    assert assemble(load_recipe(said)).recipe.oracle.use == "misclassified", "a recipe that speaks stands"
    assert load_recipe("demo", {"targets": [3, "8"]}).targets == ("3", "8")


def test_an_unknown_target_leaves_no_folder_behind(toy_images, tmp_path):
    recipe = toy_recipe(toy_images, search="descent", targets=["eleven"])
    with pytest.raises(RecipeError, match="has no class 'eleven'"):
        foible.run(recipe, tmp_path / "run")
    with pytest.raises(RecipeError, match="has no class 'eleven'"):
        foible.check(recipe)
    assert not (tmp_path / "run").exists()
    assert foible.run({**recipe, "targets": ["right"]}, tmp_path / "run").state == "complete"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"alone": "yes"}, "alone = 'yes' is no number"),
        ({"alone": True}, "alone = True is no number"),
        ({"variations": 2.5}, "variations = 2.5 is no whole number"),
        ({"steady": "maybe"}, "steady = 'maybe' is neither true nor false"),
        ({"reach": float("nan")}, "reach = nan is no number"),
        ({"keep": float("inf")}, "keep = inf is no number"),
    ],
)
def test_a_value_of_another_kind_is_named(toy_images, setting, message):
    with pytest.raises(RecipeError, match=message) as caught:
        assemble(load_recipe(toy_recipe(toy_images, search={"use": "descent", **setting})))
    assert caught.value.hint, "what the setting is"


def test_what_is_kept_is_said_once(toy_images):
    search = {"use": "descent", "keeps": "every"}
    with pytest.raises(RecipeError, match="keeps is 'best', and search"):
        assemble(load_recipe(toy_recipe(toy_images, search=search, keeps="best")))
    assert assemble(load_recipe(toy_recipe(toy_images, search=search))).recipe.keeps == "every"


@pytest.mark.parametrize("search", [{"use": "transfer"}, {"use": "descent", "alone": 1}])
def test_surrogates_are_asked_only_where_a_slope_is_wanted(toy_images, search):
    campaign = assemble(load_recipe(toy_recipe(toy_images, search=search, classifiers=STAND_IN)))
    asked = Evaluator(campaign, 8).asked
    assert TESTED in asked[Want.SCORES] and SURROGATES not in asked[Want.SCORES]
    assert SURROGATES in asked[Want.GUIDE]


def test_surrogates_go_deeper_after_a_check_in_vain_even_where_no_margin_is_kept():
    state = Transfer(steady=False, keep=0.0).begin(toy_lanes([0]))
    assert torch.equal(state["depth"], torch.tensor([0.1])), "something that can be doubled"
