"""The set-up form as data."""

import pytest

from foible.campaign import load_recipe
from foible.ui.form import DEFAULTS, fields_of, set_up
from foible.ui.live import clock, duration

CHOSEN = {"generator": "mnist-vae", "classifier": "mnist-deepconv"}


def test_the_defaults_are_those_of_the_published_study():
    recipe = set_up(CHOSEN).recipe
    assert recipe.attempts == 100 and recipe.budget.evaluations == 3760
    assert recipe.search.parameters == {"extent": "high", "population": 25, "survivors": 10}


@pytest.mark.parametrize("name", ["demo", "gift-mnist-vae-high", "gift-mnist-vae-low"])
def test_a_recipe_survives_the_form(name):
    recipe = load_recipe(name)
    again = set_up(fields_of(recipe)).recipe
    for part in ("domain", "generator", "classifier", "attempts", "seed", "stop", "budget"):
        assert getattr(again, part) == getattr(recipe, part), part
    assert {**again.search.parameters} == {"population": 25, "survivors": 10, **recipe.search.parameters}


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"survivors": "25"}, "survivors", "cannot breed"),
        ({"population": "2"}, "population", "from 3 to 1,000"),
        ({"attempts": "-1"}, "attempts", "not a whole number"),
        ({"attempts": "1e9"}, "attempts", "not a whole number"),
        ({"evaluations": "24"}, "evaluations", "the first round alone asks for 25"),
        ({"extent": "custom", "fraction": "much"}, "extent", "not a number"),
        ({"extent": "custom", "fraction": "2"}, "extent", "not a fraction of the latent range"),
        ({"extent": "custom", "fraction": "nan"}, "extent", "not a fraction"),
        ({"generator": ""}, "generator", "no generator is chosen"),
    ],
)
def test_what_cannot_be_says_where_and_why(changes, field, words):
    chosen = set_up({**CHOSEN, **changes})
    assert chosen.recipe is None
    assert chosen.problems[0].field == field and words in chosen.problems[0].message


def test_random_search_needs_no_population():
    recipe = set_up({**CHOSEN, "search": "random", "population": "", "survivors": ""}).recipe
    assert recipe.search.parameters == {"extent": "high"}


def test_link_and_command():
    chosen = set_up({**CHOSEN, "seed": "7", "name": "mine"})
    assert chosen.link == "/setup?name=mine&generator=mnist-vae&classifier=mnist-deepconv&seed=7"
    assert chosen.command == "foible run mine.toml --out runs/mine"
    assert set(chosen.fields) == set(DEFAULTS)


def test_times_as_people_say_them():
    assert [duration(s) for s in (0.2, 40, 200, 7200)] == ["1 s", "40 s", "3 min", "2.0 h"]
    assert [clock(s) for s in (7, 62, 3750)] == ["0:07", "1:02", "1:02:30"]
