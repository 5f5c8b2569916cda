"""The set-up form as data."""

import shlex

import pytest
import tomli_w
from typer.testing import CliRunner

from foible.campaign import load_recipe
from foible.cli.main import app
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
    for part in ("domain", "generator", "classifier", "attempts", "seed", "ends", "budget"):
        assert getattr(again, part) == getattr(recipe, part), part
    assert {**again.search.parameters} == {"population": 25, "survivors": 10, **recipe.search.parameters}


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"survivors": "25"}, "survivors", "cannot breed"),
        ({"population": "2"}, "population", "from 3 to 1,000"),
        ({"attempts": "-1"}, "attempts", "not a whole number"),
        ({"seed": "9" * 5000}, "seed", "longer than 300"),
        ({"attempts": "9" * 250}, "attempts", "not a whole number"),
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
    assert chosen.file_command == "foible run mine.toml --out runs/mine"
    assert chosen.command.startswith("foible test mnist-deepconv --domain mnist --generator mnist-vae ")
    assert set(chosen.fields) == set(DEFAULTS)


OWN = {"classifier": "named", "reference": "https://models.example/predict"}
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
    {**CHOSEN, "name": "mine", "seed": "7", "attempts": "3", "baseline": "0", "evaluations": "60", "published": "yes"},
    {**CHOSEN, "search": "random", "extent": "custom", "fraction": "1e-06"},
    {**CHOSEN, **OWN, **SAID},
    {**CHOSEN, **OWN, "size": "64", "classes": "one, or another\ntwo 'quoted' $HOME\n"},
]


def parts_of(fields):
    return {"classifier": fields["reference"]} if fields["classifier"] == "named" else {}


@pytest.mark.parametrize("fields", ROUND_TRIPS)
def test_the_recipe_file_stands_for_the_same_set_up(fields, tmp_path):
    chosen = set_up(fields, parts_of(fields))
    path = tmp_path / "again.toml"
    path.write_text(tomli_w.dumps(chosen.facts))
    again = load_recipe(path)
    assert again == chosen.recipe
    kept = {k: v.strip() for k, v in fields_of(again).items() if k in fields and k not in {"classifier", "fraction"}}
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
    chosen = set_up({**CHOSEN, **OWN, field: text}, {"classifier": OWN["reference"]})
    assert chosen.recipe is None
    assert chosen.problems[0].field == field and words in chosen.problems[0].message


def test_times_as_people_say_them():
    assert [duration(s) for s in (0.2, 40, 200, 7200)] == ["1 s", "40 s", "3 min", "2.0 h"]
    assert [clock(s) for s in (7, 62, 3750)] == ["0:07", "1:02", "1:02:30"]
