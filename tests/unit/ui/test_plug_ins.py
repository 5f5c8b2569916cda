"""A search, an objective and an oracle in a file outside the package: listed, in the form, and run, with no line for them."""

import tomllib

import pytest
from typer.testing import CliRunner

from foible.cli.main import app
from foible.errors import RecipeError
from foible.ui.menu import make_menu

FILE = '''
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from foible.errors import RecipeError
from foible.objectives.margin import Margin
from foible.oracles.misclassified import Misclassified
from foible.searches.random import Random


@dataclass(frozen=True)
class Wander(Random):
    """Wander about, and say so.

    Args:
        mood: how to wander.
        patience: rounds without a smile.
    """

    mood: Literal["calm", "wild"] = "calm"
    patience: int = 3

    def __post_init__(self):
        super().__post_init__()
        if self.patience < 1:
            raise RecipeError(f"patience {self.patience} is none at all", "be patient")

    def suggests(self, others):
        return {"keeps": "every"}


@dataclass(frozen=True)
class Twice(Margin):
    """The margin times a factor.

    Args:
        factor: by what.
    """

    factor: float = 2.0
    names: ClassVar = ("doubled",)

    def __call__(self, evaluation):
        return self.factor * super().__call__(evaluation)


@dataclass(frozen=True)
class Clearly(Misclassified):
    """Wrong beyond doubt."""
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "wander.py"
    path.write_text(FILE)
    return path


def test_it_is_described_on_the_command_line(file):
    said = CliRunner().invoke(app, ["ls", "searches", f"{file}:Wander"]).output
    assert "Wander about, and say so." in said and "calm, wild" in said and "rounds without a smile" in said
    assert "Wrong beyond doubt." in CliRunner().invoke(app, ["ls", "oracles", f"{file}:Clearly"]).output


def test_it_is_in_the_form_and_in_the_recipe(visit, file):
    own = (("search", (f"{file}:Wander",)), ("objective", (f"{file}:Twice",)), ("oracle", (f"{file}:Clearly",)))
    client = visit(parts=own)
    page = client.get("/setup").text
    for words in ("rounds without a smile", 'name="search.Wander.patience"', "keeps = every", "Wrong beyond doubt"):
        assert words in page
    fields = {"domain": "mnist", "generator": "mnist-vae", "classifier": "mnist-deepconv", "search": "Wander"}
    fields |= {"search.Wander.mood": "wild", "objective": "Twice", "objective.Twice.factor": "3", "oracle": "Clearly"}
    recipe = tomllib.loads(client.get("/setup/recipe.toml", params=fields).text)
    assert recipe["search"] == {"use": f"{file}:Wander", "mood": "wild"} and recipe["oracle"] == f"{file}:Clearly"
    assert recipe["objective"] == {"use": f"{file}:Twice", "factor": 3}
    said = client.post("/setup/preview", data=fields | {"search.Wander.patience": "0"}).json()
    assert not said["ready"] and 'data-field="search.Wander.patience"' in said["html"] and "Be patient" in said["html"]


def test_a_browser_cannot_name_a_file(visit, file):
    fields = {"domain": "mnist", "generator": "mnist-vae", "classifier": "mnist-deepconv", "search": f"{file}:Wander"}
    said = visit().post("/setup/preview", data=fields).json()
    assert not said["ready"] and "no search is called" in said["html"]


def test_it_runs_and_the_page_shows_its_own_column(file, tmp_path, toy_images):
    from foible.api import run
    from foible.testing.toys import toy_recipe

    parts = {
        "search": {"use": f"{file}:Wander", "extent": 0.05},
        "objective": f"{file}:Twice",
        "oracle": f"{file}:Clearly",
    }
    done = run(toy_recipe(toy_images, attempts=3, baseline={"attempts": 0}, **parts), tmp_path / "run")
    assert done.state == "complete" and done.manifest.recipe["keeps"] == "every"
    assert (done.progress()["column"], done.progress()["goal"]) == ("doubled", 0.0)


def test_names_on_the_list_differ(file):
    with pytest.raises(RecipeError, match="two of the searches are called 'Wander'"):
        make_menu({"search": [f"{file}:Wander", f"{file}:Wander"]})
    with pytest.raises(RecipeError, match="has no 'Absent'"):
        make_menu({"search": [f"{file}:Absent"]})
