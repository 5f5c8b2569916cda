import pytest

from foible.campaign import load_recipe, recipe_names
from foible.errors import RecipeError

MINIMAL = {"domain": "mnist", "generator": "g", "classifier": "c"}


def test_every_built_in_recipe_loads():
    assert {"demo", "gift-mnist-vae-low", "gift-mnist-vae-high"} <= set(recipe_names())
    for name in recipe_names():
        assert load_recipe(name).name == name


def test_changes_reach_into_tables_and_bare_names():
    recipe = load_recipe(MINIMAL | {"search": "random"}, {"search.batch": 7, "attempts": 3, "engine.lanes": 2})
    assert recipe.search.use == "random" and recipe.search.parameters == {"batch": 7}
    assert recipe.attempts == 3 and recipe.engine.lanes == 2


def test_a_resolved_recipe_loads_again_as_itself():
    recipe = load_recipe(MINIMAL | {"search": {"use": "genetic", "population": 9}})
    assert load_recipe(recipe.resolved()).resolved() == recipe.resolved()


@pytest.mark.parametrize(
    ("facts", "message", "hint"),
    [
        (MINIMAL | {"atempts": 3}, "unknown key 'atempts'", "'attempts'"),
        (MINIMAL | {"budget": {"evaluation": 3}}, "unknown key 'budget.evaluation'", "'evaluations'"),
        ({"domain": "mnist"}, "lacks 'generator'", "generator"),
        (MINIMAL | {"attempts": 0}, "'attempts' = 0 is wrong", "concepts"),
        (MINIMAL | {"attempts": "many"}, "'attempts' = 'many' is wrong", ""),
        (MINIMAL | {"ends": "sometimes"}, "'ends' = 'sometimes' is wrong", ""),
        (MINIMAL | {"stop": "counts"}, "'stop' is no longer a key", "steers = true"),
    ],
)
def test_a_wrong_key_or_value_is_named(facts, message, hint):
    with pytest.raises(RecipeError, match=message.replace("(", r"\(")) as caught:
        load_recipe(facts)
    assert hint in caught.value.hint


def test_a_missing_or_broken_file(tmp_path):
    with pytest.raises(RecipeError, match="no recipe 'dmeo'") as caught:
        load_recipe("dmeo")
    assert "'demo'" in caught.value.hint
    file = tmp_path / "broken.toml"
    file.write_text("name = ")
    with pytest.raises(RecipeError, match="is not TOML"):
        load_recipe(file)
