"""Descent on which the tested classifier is to fail alone: others' slope is taken away, and they go on seeing the class."""

import pytest
import torch

import foible
from foible.campaign import assemble, load_recipe
from foible.campaign.evaluate import Evaluator
from foible.errors import RecipeError
from foible.objectives.margin import margin
from foible.objectives.nearest import Nearest
from foible.objectives.surrogates import SURROGATES
from foible.testing import toys
from foible.testing.toys import ToyClassifier, toy_recipe
from foible.types import TESTED, Evaluation, Want

OTHER = f"{toys.__file__}:ToyClassifier"
CORNERED = '''
from foible.testing.toys import ToyClassifier


class Cornered(ToyClassifier):
    """Sees the bars, and is drawn to the right by what is in one corner."""

    def inspect(self, images, layers):
        scores, said = super().inspect(images, layers)
        drawn = scores.new_tensor([-5.0, -5.0, 5.0])
        return scores + drawn * images[:, 0, :1, -1], said
'''


def test_the_margin_keeps_its_value_and_loses_a_share_of_the_others_slope():
    z = torch.tensor([[3.0, 1.0]], requires_grad=True)
    tested, other = z * torch.tensor([[2.0, 1.0]]), z * torch.tensor([[4.0, 1.0]])  # margins 2 a - b and 4 a - b
    rest = (z, torch.zeros(1, 1, 2, 2), torch.zeros(1, 2), torch.tensor([0]), torch.tensor([-1]))
    seen = Evaluation(*rest, {TESTED: tested, SURROGATES: other[:, None]})
    margins = Nearest(alone=0.25)(seen)[:, 0]
    assert margins.tolist() == [5.0]
    assert torch.autograd.grad(margins.sum(), z)[0].tolist() == [[1.0, -0.75]], "(2, -1) less a quarter of (4, -1)"


@pytest.mark.parametrize("steady", [False, True])
def test_the_other_classifier_goes_on_seeing_the_class(toy_images, tmp_path, steady):
    """Both see the bars, the tested one a corner too: alone it fails by the corner, else by the bars as well."""
    path = tmp_path / "cornered.py"
    path.write_text(CORNERED)
    ahead = {}
    for alone in (0.0, 1.0):
        recipe = toy_recipe(
            toy_images,
            generator="pixels",
            classifier=f"{path}:Cornered",
            classifiers={"surrogate": OTHER} if alone else {},
            classes=["left", "middle"],
            search={"use": "descent", "steady": steady, "alone": alone},
            validators=[],
            attempts=8,
        )
        run = foible.run(recipe, tmp_path / f"{alone}")
        found = list(run.findings())
        assert len(found) == sum(o.accepted for o in run.outcomes()) > 4
        scores = ToyClassifier()(torch.stack([run.image(f.image) for f in found]))
        ahead[alone] = margin(scores, torch.tensor([f.label for f in found]))
    assert (ahead[1.0] > 0).all(), "the other one is right about every failure"
    assert (ahead[1.0] > ahead[0.0]).all(), "and surer than where it was not asked"


def test_surrogates_are_not_counted(toy_images):
    recipe = toy_recipe(toy_images, search={"use": "descent", "steady": False, "alone": 0.5})
    campaign = assemble(load_recipe({**recipe, "classifiers": {"surrogate": OTHER}}))
    prices = Evaluator(campaign, 8).prices
    assert [int(prices[want]) for want in (Want.SCORES, Want.GRADIENTS, Want.GUIDE)] == [1, 3, 3]


def test_others_of_the_domain_are_taken_where_the_recipe_names_none():
    recipe = load_recipe("demo", {"search.alone": 0.5, "validators": [], "baseline.attempts": 0})
    campaign = assemble(recipe)
    assert [campaign.roles[f"surrogate{k}"].classifier.name for k in range(3)] == [
        "mnist-lenet5",
        "mnist-lenet4",
        "mnist-lenet1",
    ]
    assert campaign.recipe.objective.parameters["alone"] == 0.5


def test_bad_words_are_named(toy_images):
    alone = toy_recipe(toy_images, search={"use": "descent", "alone": 0.5})
    with pytest.raises(RecipeError, match="no surrogate whose gradients"):
        assemble(load_recipe(alone))
    with pytest.raises(RecipeError, match="alone 2 must be 0 to 1"):
        assemble(load_recipe({**alone, "search": {"use": "descent", "alone": 2}}))

    class Black(ToyClassifier):
        offers = frozenset()

    with pytest.raises(RecipeError, match="'toy-classifier' lends none") as caught:
        assemble(load_recipe(alone), classifier=Black(), classifiers={"surrogate": ToyClassifier("other")})
    assert 'search = "transfer"' in caught.value.hint
