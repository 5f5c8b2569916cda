"""What a search, an objective or a role does wrong is named, each with its own message."""

from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

import pytest
import torch

import foible
from foible.batching import Packing
from foible.campaign import assemble, load_recipe, prepare
from foible.campaign.evaluate import Evaluator
from foible.campaign.rehearse import lanes_of
from foible.errors import CheckError, ModelError, RecipeError
from foible.protocols import Lanes
from foible.searches.random import Random
from foible.testing.toys import ToyClassifier, toy_recipe
from foible.types import TESTED, Arm, Capability, Proposal, Starts, Want

HEAD = """
from dataclasses import dataclass
import torch
from foible.objectives.margin import Margin
from foible.searches.random import Random
from foible.types import Proposal
"""
SILENT = """
@dataclass(frozen=True)
class Silent(Random):
    def ask(self, state, lanes):
        proposal = super().ask(state, lanes)
        late = state["round"][proposal.lanes] > 2
        return Proposal(proposal.latents[~late], proposal.lanes[~late])
"""
CROOKED = """
@dataclass(frozen=True)
class Crooked(Random):
    def ask(self, state, lanes):
        proposal = super().ask(state, lanes)
        return Proposal(proposal.latents[:, :2] if int(state["round"][0]) > 1 else proposal.latents, proposal.lanes)
"""
FLAT = """
@dataclass(frozen=True)
class Flat(Margin):
    def __call__(self, evaluation):
        return super().__call__(evaluation)[:, 0]
"""
NAN = """
@dataclass(frozen=True)
class Nan(Margin):
    def __call__(self, evaluation):
        return super().__call__(evaluation) * torch.nan
"""


@pytest.mark.parametrize(
    ("code", "key", "message", "hint"),
    [
        (SILENT, "search", "asked for nothing in lane 0", "done"),
        (CROOKED, "search", r"asked for latents of shape \(100, 2\), expected \(100, 3\)", "shape of the generator"),
        (FLAT, "objective", r"gave scores of shape \(16,\) for 16 candidates, expected \(16, 1\)", "margin"),
        (NAN, "objective", "objective .* gave NaN or infinite values in column 'margin'", "objective"),
    ],
)
def test_what_a_part_does_wrong_is_named(code, key, message, hint, toy_images, tmp_path):
    name = code.split("class ")[1].split("(")[0]
    path = tmp_path / f"{name.lower()}.py"
    path.write_text(HEAD + code)
    recipe = toy_recipe(toy_images, baseline={"attempts": 0}) | {"search": "random", key: f"{path}:{name}"}
    with pytest.raises(RecipeError, match=message) as caught:
        foible.run(recipe, tmp_path / "run")
    assert hint in caught.value.hint


def test_a_role_that_is_missing_is_named(toy_images):
    with pytest.raises(RecipeError, match="reads the role 'rival'") as caught:
        foible.check(toy_recipe(toy_images, oracle="disagree"))
    assert "[classifiers]" in caught.value.hint


class Black(ToyClassifier):
    """Lends neither gradients nor activations."""

    offers: ClassVar = frozenset()


def test_a_search_that_needs_gradients_of_a_black_box_is_refused(toy_images):
    with pytest.raises(RecipeError, match="follows gradients, and 'toy-classifier' lends none") as caught:
        foible.check(toy_recipe(toy_images, search={"use": "descent", "steady": False}), classifier=Black())
    assert "surrogate" in caught.value.hint


def test_layers_of_a_model_that_shows_none_are_refused(toy_images, tmp_path):
    path = tmp_path / "bars.py"
    path.write_text(HEAD + "@dataclass(frozen=True)\nclass Bars(Margin):\n    reads = {'tested': ('bars',)}\n")
    with pytest.raises(RecipeError, match="shows no activations"):
        foible.check(toy_recipe(toy_images, objective=f"{path}:Bars"), classifier=Black())


def test_transfer_without_surrogates_says_so(toy_images):
    with pytest.raises(RecipeError, match="no surrogate whose gradients"):
        foible.check(toy_recipe(toy_images, search="transfer"), classifier=Black())


def test_a_rank_that_is_no_column_is_named(toy_images):
    with pytest.raises(RecipeError, match="rank = 'margins' is no column") as caught:
        foible.check(toy_recipe(toy_images, rank="margins"))
    assert "'margin'" in caught.value.hint


def test_the_first_round_must_fit_the_budget(toy_images):
    with pytest.raises(CheckError, match="asks for 3 evaluations at once"):
        foible.run(toy_recipe(toy_images, search={"use": "descent", "variations": 4}, budget={"evaluations": 2}))


def test_the_search_is_chosen_by_what_the_classifier_lends(toy_images):
    silent = {k: v for k, v in toy_recipe(toy_images).items() if k != "search"}
    assert assemble(load_recipe(silent)).recipe.search.use == "descent"
    assert assemble(load_recipe(silent), classifier=Black()).recipe.search.use == "genetic", "no other of its domain"
    lent = assemble(load_recipe(silent), classifier=Black(), classifiers={"surrogate": ToyClassifier("other")})
    assert lent.recipe.search.use == "transfer"


@pytest.mark.parametrize(
    ("want", "plain", "steady"),
    [(Want.VERDICT, 1, 1), (Want.SCORES, 1, 1 + 3), (Want.GRADIENTS, 3, 3 * (1 + 3)), (Want.GUIDE, 3, 3)],
)
def test_what_is_asked_is_what_is_paid_for(want, plain, steady, toy_images):
    """Forward 1, backward 2 per column; a look through variations costs each of them, a quick look the image alone."""
    for settings, price in (({"steady": False}, plain), ({"variations": 3}, steady)):
        campaign = assemble(load_recipe(toy_recipe(toy_images, search={"use": "descent", **settings})))
        proposal = Proposal(torch.zeros(2, 3), torch.arange(2), wants=torch.full((2,), int(want)))
        assert Evaluator(campaign, 4).price(proposal).tolist() == [price, price]


def test_gradients_come_in_the_order_of_the_rows_and_only_where_asked_for(toy_images):
    campaign = assemble(load_recipe(toy_recipe(toy_images, search={"use": "descent", "steady": False})))
    latents = torch.tensor([[2.0, 0.5, 0.0], [0.5, 2.0, 0.0], [2.0, 0.0, 0.5]])
    labels = torch.tensor([[0], [1], [0]])
    starts = Starts(torch.arange(3), latents[:, None], labels, torch.full((3, 1), -1))
    lanes = Lanes(starts, campaign.generator.space, campaign.streams)
    wants = torch.tensor([int(Want.GRADIENTS), int(Want.SCORES), int(Want.GRADIENTS)])
    told = Evaluator(campaign, 2)(Proposal(latents, torch.arange(3), wants=wants), lanes, {}, {})
    bright = latents.sigmoid()
    assert torch.allclose(told.scores[:, 0], 10 * (bright.amax(1) - torch.tensor([0.5, 0.5, 0.5]).sigmoid()), atol=1e-4)
    slope = 10 * bright * (1 - bright)
    expected = torch.stack([slope[0] * torch.tensor([1, -1, 0]), torch.zeros(3), slope[2] * torch.tensor([1, 0, -1])])
    assert torch.allclose(told.gradients[:, 0], expected, atol=1e-4)
    assert not bool(told.gradients[:, 1].any()), "nobody follows the second column"
    assert told.cost.tolist() == [3, 1, 3]


class ScoreAndLength:
    """Two columns with slopes: the score of the first class, and how far a latent is from zero."""

    names, reads = ("score", "length"), MappingProxyType({TESTED: ()})

    def __call__(self, evaluation):
        return torch.stack([evaluation.outputs[TESTED][:, 0], evaluation.latents.square().sum(1)], 1)


def test_a_search_to_which_a_sum_will_do_pays_for_one_gradient(toy_images):
    origins = torch.tensor([[2.0, 0.5, 0.0], [0.5, 2.0, 0.0]])
    starts = Starts(torch.arange(2), origins[:, None], torch.tensor([[0], [1]]), torch.full((2, 1), -1))
    told = {}
    for way in ("each", "sum"):
        search = {"use": "pgd", "weight": 0.25, "normalise": way}
        campaign = assemble(load_recipe(toy_recipe(toy_images, search=search)))
        campaign = replace(campaign, objective=ScoreAndLength())
        lanes = Lanes(starts, campaign.generator.space, campaign.streams)
        asked = Proposal(origins + 0.1, torch.arange(2), wants=torch.full((2,), int(Want.GRADIENTS)))
        told[way] = Evaluator(campaign, 2)(asked, lanes, {}, {})
    each, both = told["each"], told["sum"]
    assert torch.allclose(both.gradients[:, 0], each.gradients[:, 0] + 0.25 * each.gradients[:, 1], atol=1e-5)
    assert bool(each.gradients[:, 1].any()) and not bool(both.gradients[:, 1].any())
    assert each.cost.tolist() == [5, 5] and both.cost.tolist() == [3, 3]


def test_nan_of_a_second_role_is_blamed_on_that_role(toy_images, tmp_path):
    class Broken(ToyClassifier):
        def __call__(self, images):
            return super().__call__(images) * torch.where(images.mean((1, 2, 3)) > 0.45, torch.nan, 1.0)[:, None]

    recipe = toy_recipe(toy_images, oracle="disagree", search={"use": "random", "extent": 0.1}, ends="never")
    with pytest.raises(ModelError, match="classifier 'broken' gave NaN"):
        foible.run(recipe | {"objective": _apart(tmp_path)}, tmp_path / "run", classifiers={"rival": Broken("broken")})


def _apart(folder):
    path = folder / "apart.py"
    path.write_text(
        HEAD
        + "@dataclass(frozen=True)\nclass Apart:\n    names = ('apart',)\n    reads = {'tested': (), 'rival': ()}\n"
        "    def __call__(self, evaluation):\n"
        "        return -(evaluation.outputs['tested'] - evaluation.outputs['rival']).abs().amax(1, keepdim=True)\n"
    )
    return f"{path}:Apart"


def test_a_baseline_may_go_as_far_as_the_search_beside_it(toy_images):
    campaign = assemble(load_recipe(toy_recipe(toy_images, search={"use": "genetic", "extent": 0.03, "cap": 4.0})))
    assert campaign.searches["baseline"] == Random(extent=0.03, cap=4.0)
    assert Capability.GRADIENT in campaign.classifier.offers


def test_large_images_go_through_one_at_a_time_and_nothing_is_measured(toy_images, monkeypatch):
    campaign = assemble(load_recipe(toy_recipe(toy_images, engine={"chunk": "auto"})))
    monkeypatch.setattr(prepare, "LARGE", 30)
    monkeypatch.setattr(prepare, "_measured", None)
    assert prepare.batches_of(campaign) == (1, Packing.FULL)


@pytest.mark.parametrize(
    ("search", "chunk", "lanes"),
    [("descent", 64, 256), ("descent", 8, 32), ("descent", 1, 4), ({"use": "random", "batch": 16}, 64, 32)],
)
def test_lanes_fill_the_chunks_unless_the_recipe_says_how_many(toy_images, search, chunk, lanes):
    recipe = toy_recipe(toy_images, search=search)
    recipe.pop("engine", None)
    assert lanes_of(assemble(load_recipe(recipe)), Arm.SEARCH, chunk) == lanes
    assert lanes_of(assemble(load_recipe(recipe, {"engine.lanes": 3})), Arm.SEARCH, chunk) == 3


def test_no_lanes_are_refused(toy_images):
    with pytest.raises(RecipeError, match="1 or more"):
        load_recipe(toy_recipe(toy_images), {"engine.lanes": 0})
