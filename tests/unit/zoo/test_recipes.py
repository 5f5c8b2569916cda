import pytest

from foible.campaign.spec import load_recipe, recipe_names
from foible.domains import load_domain
from foible.zoo import entries

GIFT = [n for n in recipe_names() if n.startswith("gift-")]


@pytest.mark.parametrize("name", GIFT)
def test_gift_recipes_name_what_there_is(name):
    recipe = load_recipe(name)
    domain = load_domain(recipe.domain)
    assert all(domain.class_index(c) >= 0 for c in recipe.classes or ())
    assert recipe.generator.use in entries() or recipe.domain == "imagenet"
    assert recipe.classifier.use in (domain.classifier, "torchvision:vgg19_bn")
    assert recipe.search.parameters["extent"] == name.rsplit("-", 1)[1]


@pytest.mark.parametrize("name", sorted(n for n, e in entries().items() if e.role == "generators"))
def test_every_generator_has_both_extents(name):
    assert {f"gift-{name}-low", f"gift-{name}-high"} <= set(GIFT)


def test_pizza_and_teddy_are_where_they_belong():
    domain = load_domain("imagenet")
    assert len(domain.classes) == len(set(domain.classes)) == 1000
    assert (domain.class_index("pizza"), domain.class_index("teddy_bear")) == (963, 850)
