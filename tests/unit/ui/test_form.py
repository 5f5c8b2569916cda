"""The set-up form as data."""

import shlex

import pytest
import tomli_w
from typer.testing import CliRunner

from foible.campaign import load_recipe, recipe_names
from foible.cli.main import app
from foible.errors import RecipeError
from foible.registry import build
from foible.ui import form
from foible.ui.live import clock, duration
from foible.ui.menu import make_menu

CHOSEN = {"domain": "mnist", "generator": "mnist-vae", "classifier": "mnist-deepconv"}


MENU = make_menu()


def set_up(fields, parts=None):
    return form.set_up(fields, MENU, parts)


def fields_of(recipe):
    return form.fields_of(recipe, MENU)


def test_the_form_at_first_says_no_more_than_it_must():
    recipe = set_up(CHOSEN).recipe
    usual = load_recipe({"domain": "mnist", "generator": "x", "classifier": "y"})
    for part in (
        "attempts",
        "budget",
        "baseline",
        "search",
        "steadiness",
        "objective",
        "oracle",
        "ends",
        "keeps",
        "steers",
    ):
        assert getattr(recipe, part) == getattr(usual, part), part
    assert not recipe.model_fields_set & {"search", "objective", "oracle", "ends", "keeps", "steers"}, "left open"


PLAIN = [name for name in recipe_names() if not load_recipe(name).generator.parameters]


@pytest.mark.parametrize("name", PLAIN)
def test_a_recipe_survives_the_form(name):
    recipe = load_recipe(name)
    again = set_up(fields_of(recipe)).recipe
    plain = {"name", "search"}
    assert {k: v for k, v in again.resolved().items() if k not in plain} == {
        k: v for k, v in recipe.resolved().items() if k not in plain
    }
    if "search" in recipe.model_fields_set:
        assert build("searches", again.search.use, again.search.parameters) == build(
            "searches", recipe.search.use, recipe.search.parameters
        )
    assert again.model_fields_set - recipe.model_fields_set <= {
        "name",
        "attempts",
        "seed",
        "search",
        "budget",
        "baseline",
    }


def test_all_that_a_recipe_can_say_survives_the_form():
    changes = {
        "title": "All of it", "classes": ["3", "5"], "targets": ["8"], "begins": "real", "origins": "any", "data": "sample",
        "classifiers": {"rival": "mnist-lenet5"}, "oracle": "disagree", "objective": "margin", "validators": [],
        "ends": "never", "keeps": "every", "rank": "margin", "steers": False, "wave": 4, "seed": 3, "attempts": 7,
        "budget": {"evaluations": 90, "seconds": 1.5}, "baseline": {"use": "genetic", "attempts": 2},
        "engine": {"lanes": 3, "chunk": 8, "device": "cpu", "checkpoint_seconds": 2.0},
        "search": {"use": "random", "batch": 5, "extent": 0.01, "starts": 2},
    }  # fmt: skip
    recipe = load_recipe({**CHOSEN, **changes})
    again = set_up(fields_of(recipe)).recipe
    assert again.resolved() | {"name": ""} == recipe.resolved() | {"name": ""}


@pytest.mark.parametrize(
    "change", [{"search": "mine.py:Mine"}, {"generator": {"use": "mnist-vae", "x": 1}}, {"data": "/etc"}, {"validators": [{"use": "judge", "calibration": "x"}]}]
)  # fmt: skip
def test_what_the_form_cannot_say_is_refused_and_not_forgotten(change):
    with pytest.raises(RecipeError):
        fields_of(load_recipe({**CHOSEN, **change}))


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"search.genetic.survivors": "25"}, "search.genetic.survivors", "cannot breed"),
        ({"search.genetic.population": "2"}, "search.genetic.population", "cannot breed"),
        ({"search.genetic.population": "many"}, "search.genetic.population", "not a whole number"),
        ({"search.genetic.population": "9999999"}, "search.genetic.population", "more than 1,000,000"),
        ({"search.genetic.cap": "0.5"}, "search.genetic.cap", "cap 0.5"),
        ({"attempts": "-1"}, "attempts", "not a whole number"),
        ({"seed": "9" * 5000}, "seed", "longer than 300"),
        ({"attempts": "9" * 250}, "attempts", "not a whole number"),
        ({"attempts": "1e9"}, "attempts", "not a whole number"),
        ({"evaluations": "24"}, "evaluations", "the first round alone asks for 25"),
        ({"search.genetic.extent": "much"}, "search.genetic.extent", "no extent is called"),
        ({"search.genetic.extent": "2"}, "search.genetic.extent", "not a fraction of the latent range"),
        ({"search.genetic.extent": "nan"}, "search.genetic.extent", "not a fraction"),
        ({"generator": ""}, "generator", "no generator is chosen"),
        ({"search": "clever"}, "search", "no search is called 'clever'"),
        ({"search": "/tmp/x.py:X"}, "search", "no search is called"),
        ({"recipe.ends": "later"}, "recipe.ends", "no choice is called 'later'"),
        ({"recipe.wave": "0"}, "recipe.wave", "'wave' = 0 is wrong"),
        ({"data": "/etc"}, "data", "can only be 'sample'"),
        ({"validators": "judge, x.py:Y"}, "validators", "no validator is called 'x.py:Y'"),
        ({"classifiers": "rival = x.py:Y"}, "classifiers", "not a role and the name"),
    ],
)
def test_what_cannot_be_says_where_and_why(changes, field, words):
    chosen = set_up({**CHOSEN, "search": "genetic", **changes})
    assert chosen.recipe is None
    assert chosen.problems[0].field == field and words in chosen.problems[0].message


def test_each_search_keeps_its_own_values():
    both = {**CHOSEN, "search.genetic.extent": "low", "search.random.extent": "0.5", "search.random.batch": "3"}
    assert set_up({**both, "search": "genetic"}).recipe.search.parameters == {"extent": "low"}
    chosen = set_up({**both, "search": "random"})
    assert chosen.recipe.search.parameters == {"extent": 0.5, "batch": 3}
    assert "genetic.extent" not in chosen.link, "what is out of sight is not in the address"


def test_link_and_command():
    chosen = set_up({**CHOSEN, "seed": "7", "name": "mine"})
    assert chosen.link == "/setup?name=mine&generator=mnist-vae&classifier=mnist-deepconv&seed=7"
    assert chosen.file_command == "foible run mine.toml --out runs/mine"
    assert chosen.command.startswith("foible test mnist-deepconv --domain mnist --generator mnist-vae ")
    assert set(chosen.fields) == set(MENU.defaults)


OWN = {"classifier": "named", "address": "https://models.example/predict"}
SAID = {
    "size": "32,48",
    "range": "-1,1",
    "mean": "0.1307,0.485,123456.789",
    "std": "0.5",
    "channels": "3",
    "layout": "nhwc",
    "output": "probabilities",
    "send": "png",
    "classes": "9,8,7,6,5,4,3,2,1,0",
}
ROUND_TRIPS = [
    CHOSEN,
    {
        **CHOSEN,
        "name": "mine",
        "seed": "7",
        "attempts": "3",
        "baseline": "0",
        "evaluations": "60",
        "search.genetic.compat": "yes",
        "recipe.ends": "first",
    },
    {
        **CHOSEN,
        "search": "random",
        "search.random.extent": "1e-06",
        "classifiers": "rival = mnist-lenet5",
        "oracle": "disagree",
    },
    {**CHOSEN, **OWN, **SAID},
    {**CHOSEN, **OWN, "size": "64", "classes": "one, or another\ntwo 'quoted' $HOME\n"},
]


def parts_of(fields):
    return {"classifier": fields["address"]} if fields["classifier"] == "named" else {}


@pytest.mark.parametrize("fields", ROUND_TRIPS)
def test_the_recipe_file_stands_for_the_same_set_up(fields, tmp_path):
    chosen = set_up(fields, parts_of(fields))
    path = tmp_path / "again.toml"
    path.write_text(tomli_w.dumps(chosen.facts))
    again = load_recipe(path)
    assert again == chosen.recipe
    kept = {k: v.strip() for k, v in fields_of(again).items() if k in fields and k != "classifier"}
    assert kept == {k: "64,64" if v == "64" else v for k, v in chosen.fields.items() if k in kept}


@pytest.mark.parametrize("fields", ROUND_TRIPS)
def test_the_command_line_stands_for_the_same_set_up(fields, monkeypatch):
    chosen, seen = set_up(fields, parts_of(fields)), []
    monkeypatch.setattr("foible.campaign.assemble", lambda recipe: seen.append(recipe) or 1 / 0)
    program, *words = shlex.split(chosen.command)
    assert program == "foible"
    assert "unexpected ZeroDivisionError" in CliRunner().invoke(app, words).output
    assert seen == [chosen.recipe]


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("mean", "grey", "is not a list of numbers"),
        ("mean", "nan", "is not a list of numbers"),
        ("std", "0.5,0", "std must be positive"),
        ("range", "255", "range has 1 numbers, expected 2"),
        ("range", "1,1", "is empty"),
        ("size", "100000", "more than 2048 pixels"),
        ("layout", "bgr", "layout 'bgr' is not known"),
        ("classes", "x" * 40_001, "longer than 40,000 characters"),
    ],
)
def test_what_is_said_of_a_model_is_checked_before_it_is_opened(field, text, words):
    chosen = set_up({**CHOSEN, **OWN, field: text}, {"classifier": OWN["address"]})
    assert chosen.recipe is None
    assert chosen.problems[0].field == field and words in chosen.problems[0].message


def test_times_as_people_say_them():
    assert [duration(s) for s in (0.2, 40, 200, 7200)] == ["1 s", "40 s", "3 min", "2.0 h"]
    assert [clock(s) for s in (7, 62, 3750)] == ["0:07", "1:02", "1:02:30"]


def test_lists_and_tables_that_are_left_as_they_are_stay_out_of_the_recipe():
    """A search with a list among its parameters, and an objective with a table."""
    chosen = {**CHOSEN, "search": {"use": "deepxplore", "radius": 2.0}, "objective": {"use": "covering", "count": 2}}
    again = set_up(fields_of(load_recipe(chosen))).recipe
    assert again.search.parameters == {"radius": 2.0} and again.objective.parameters == {"count": 2}
