"""The recipes of the published study: complete, sound, and with the published numbers."""

import tomllib
from itertools import product

import pytest
import torch

from foible.campaign import load_recipe, recipe_names
from foible.campaign.built_in import built_in_recipe, combined
from foible.domains import load_domain
from foible.searches.extent import initial_step
from foible.types import LatentSpace
from foible.zoo import cards
from foible.zoo.trainable import trainable

GIFT = [n for n in recipe_names() if n.startswith("gift-")]
PUBLISHED_SEARCH = [n for n in GIFT if not n.endswith("-descent")]
SMALL = list(product(("mnist", "fashion", "svhn", "cifar10"), ("vae", "gan", "diffusion")))
IMAGENET = list(product(("pizza", "teddy"), ("autoencoder", "gan", "diffusion")))

# Range of the latents and first step at both extents, as recorded with the published results. For Stable Diffusion on
# ImageNet the range is the one in the published range file: its search was clamped to another (-5.32434, 5.55197).
PUBLISHED = {
    "mnist-vae": (-3.86494, 3.45634, 0.00146426, 0.0146426),
    "mnist-gan": (-4.78276, 4.08759, 0.00177407, 0.0177407),
    "mnist-diffusion": (-5.41362, 5.42081, 0.00216689, 0.0216689),
    "svhn-vae": (-5.26724, 4.72676, 0.00199880, 0.0199880),
    "svhn-gan": (-4.07098, 4.55558, 0.00172531, 0.0172531),
    "svhn-diffusion": (-5.62070, 5.27061, 0.00217826, 0.0217826),
    "cifar10-vae": (-4.15869, 3.85224, 0.00160219, 0.0160219),
    "cifar10-gan": (-4.43898, 4.66634, 0.00182106, 0.0182106),
    "cifar10-diffusion": (-5.53952, 5.37761, 0.00218343, 0.0218343),
    "pizza-autoencoder": (-5.22431, 5.62481, 0.00216982, 0.0216982),
    "teddy-autoencoder": (-5.22431, 5.62481, 0.00216982, 0.0216982),
    "pizza-gan": (-1.99991, 1.99997, 0.000799975, 0.00799975),
    "pizza-diffusion": (-5.54951, 5.33689, 0.00217728, 0.0217728),
    "teddy-diffusion": (-5.54951, 5.33689, 0.00217728, 0.0217728),
}


def step(recipe, low, high):
    space = LatentSpace((1,), torch.tensor(low), torch.tensor(high), torch.ones(1))
    return initial_step(load_recipe(recipe).search.parameters["extent"], space)


def test_every_domain_family_and_extent_has_a_recipe():
    wanted = {f"gift-{d}-{f}-{e}" for (d, f), e in product([*SMALL, *IMAGENET], ("low", "high", "descent"))}
    assert set(GIFT) == wanted and len(wanted) == 54


@pytest.mark.parametrize("name", GIFT)
def test_a_recipe_names_what_there_is_or_what_can_be_trained(name):
    recipe = load_recipe(name)
    domain, known = load_domain(recipe.domain), {**cards(), **trainable()}
    assert all(domain.class_index(c) >= 0 for c in recipe.classes or ())
    assert recipe.title.count(",") == 3
    if recipe.domain == "imagenet":
        assert recipe.classifier.use == "torchvision:vgg19_bn"
        assert recipe.generator.use in {"biggan", "text_to_image", "autoencoder"}
    else:
        assert recipe.classifier.use == domain.classifier in known
        generator = known[recipe.generator.use]
        assert (generator.domain, generator.role) == (recipe.domain, "generators")
        how = recipe.search.parameters.get("extent", recipe.search.use)
        assert name == f"gift-{recipe.domain}-{generator.family}-{how}"


@pytest.mark.parametrize("name", PUBLISHED_SEARCH)
def test_population_survivors_and_budget_are_the_published_ones(name):
    recipe = load_recipe(name)
    population, survivors = recipe.search.parameters["population"], recipe.search.parameters["survivors"]
    assert (recipe.attempts, population, survivors) == (100, 25, 10)
    assert recipe.budget.evaluations == population + 249 * (population - survivors)
    assert recipe.search.parameters["compat"] and recipe.ends == "first"


def test_descent_has_the_same_origins_and_budget_and_ends_as_it_does_elsewhere():
    descent, genetic = load_recipe("gift-mnist-vae-descent"), load_recipe("gift-mnist-vae-low")
    assert descent.search.use == "descent" and descent.search.parameters == {}
    assert (descent.budget, descent.attempts, descent.seed) == (genetic.budget, genetic.attempts, genetic.seed)
    assert descent.ends == "never" and not {"objective", "keeps"} & descent.model_fields_set, "as descent suggests"


@pytest.mark.parametrize("cell", PUBLISHED)
def test_the_first_step_is_the_published_one(cell):
    low, high, step_low, step_high = PUBLISHED[cell]
    assert step(f"gift-{cell}-low", low, high) == pytest.approx(step_low, rel=1e-5)
    assert step(f"gift-{cell}-high", low, high) == pytest.approx(step_high, rel=1e-5)


def test_teddy_bears_of_biggan_were_searched_with_ten_times_the_step():
    """The published record departs from its own rule here; the recipe keeps to the rule."""
    assert step("gift-teddy-gan-low", -1.99991, 1.99997) == pytest.approx(0.00799975 / 10, rel=1e-5)
    assert step("gift-teddy-gan-low", -1.99991, 1.99997) == step("gift-pizza-gan-low", -1.99991, 1.99997)


def test_pizza_and_teddy_are_where_they_belong():
    domain = load_domain("imagenet")
    assert len(domain.classes) == len(set(domain.classes)) == 1000
    assert (domain.class_index("pizza"), domain.class_index("teddy_bear")) == (963, 850)


def test_a_study_combines_its_axes():
    study = tomllib.loads("""
        [shared]
        title = "study"
        search = { use = "genetic", extent = 0.5 }
        [[axes]]
        a = { title = "first", domain = "x" }
        b = { title = "second", domain = "y" }
        [[axes]]
        far = { title = "far", search.extent = 0.9 }
    """)
    assert combined("s", study) == {
        "s-a-far": {"title": "study, first, far", "domain": "x", "search": {"use": "genetic", "extent": 0.9}},
        "s-b-far": {"title": "study, second, far", "domain": "y", "search": {"use": "genetic", "extent": 0.9}},
    }
    assert study["shared"]["search"]["extent"] == 0.5


def test_what_one_caller_changes_no_other_sees():
    built_in_recipe("gift-mnist-vae-low")["search"]["population"] = 3
    load_recipe("gift-mnist-vae-low", {"search.population": 4})
    assert built_in_recipe("gift-mnist-vae-low")["search"]["population"] == 25
