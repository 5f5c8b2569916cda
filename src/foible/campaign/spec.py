"""A recipe: a campaign written as TOML. Every key is checked; a misspelt one is named with the closest that exists."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from foible.campaign.built_in import built_in_recipe, recipe_names
from foible.errors import RecipeError, did_you_mean
from foible.types import TESTED

FORMER = {
    "stop": 'write ends = "first" or ends = "confirmed"; for "counts": ends = "confirmed" and steers = true',
}


class Part(BaseModel):
    """A component by name with its parameters: `search = "random"`, or a table with `use = "random"`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    use: str

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, value: Any) -> Any:
        return {"use": value} if isinstance(value, str) else value

    @property
    def parameters(self) -> dict[str, Any]:
        """Everything but the name."""
        return dict(self.model_extra or {})


class Strict(BaseModel):
    """A table in which every key is known."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BudgetTable(Strict):
    """What a search may cost: evaluations per origin, and seconds for the whole run."""

    evaluations: int = Field(3760, ge=1, description="images shown to the counted classifiers, per starting image")
    seconds: float | None = Field(None, gt=0, description="for the whole run; it can go on later")


class BaselineTable(Part):
    """The search every result is compared with, run on the first attempts with the same budget."""

    use: str = Field("random", description="a search; what it has in common with the recipe's is set alike")
    attempts: int = Field(20, ge=0, description="how many of the first attempts it tries too; 0: none")


class NarrowTable(Strict):
    """When a pair of classes gets no more attempts, in a run that aims at classes."""

    width: float = Field(0.2, gt=0, le=1, description="of the 95 % interval of its share of escapes, or narrower")
    within: float | None = Field(
        None, gt=0, description="only escapes of at most this latent distance count (L1 where measured, else L2)"
    )


class EngineTable(Strict):
    """How the machine is used; changes no result beyond what docs/concepts.md says of chunks."""

    lanes: int | Literal["auto"] = Field(
        "auto",
        description="starting images searched side by side; auto: enough to fill the passes through the networks",
    )
    chunk: int | Literal["auto"] = Field("auto", description="images per pass through the networks; auto: measured")
    device: str = Field("cpu", description="where the networks run: cpu, cuda, cuda:1, mps")
    checkpoint_seconds: float = Field(10.0, gt=0, description="between two savings of unfinished searches")
    workers: int | Literal["ray"] = Field(
        0, description="processes that compute, through Ray; 0: this one alone; ray: one for every core"
    )
    threads: int | None = Field(
        None, ge=1, description="of each process that computes; left out: what torch takes, shared out among workers"
    )
    address: str | None = Field(None, description="of a Ray cluster; left out: this machine")
    gpus: float | None = Field(
        None, ge=0, description="what a worker takes of a GPU, such as 0.25; left out: a whole one where device is cuda"
    )

    @field_validator("lanes")
    @classmethod
    def _at_least_one(cls, lanes: int | Literal["auto"]) -> int | Literal["auto"]:
        if isinstance(lanes, int) and lanes < 1:
            raise ValueError("a number of starting images searched side by side is 1 or more")
        return lanes

    @field_validator("workers")
    @classmethod
    def _some_or_none(cls, workers: int | Literal["ray"]) -> int | Literal["ray"]:
        if isinstance(workers, int) and workers < 0:
            raise ValueError("a number of processes is 0 or more")
        return workers


class Recipe(Strict):
    """A campaign as data."""

    name: str = Field("campaign", description="of the run and its folder; that of the recipe's file where left out")
    title: str = Field("", description="what reports call it")
    domain: str = Field(description="what images the classifier is for: a name, a .toml file or a tree of images")
    data: str | None = Field(None, description="real images: a tree, an npz file or 'sample'; left out: look around")
    classes: tuple[str, ...] | None = Field(None, description="of the starting images; left out: all, in turn")
    targets: tuple[str, ...] | None = Field(
        None, description="classes to aim at: attempts go through all pairs, and only a failure that ends there is one"
    )
    narrow: NarrowTable | None = Field(
        None, description="with targets: leave a pair of classes alone once its share of escapes is known well enough"
    )
    begins: Literal["auto", "real", "sampled"] = Field(
        "auto",
        description="what searches begin from: real images need a generator with an encoder; auto: real where it has one",
    )
    origins: Literal["judged", "any"] = Field(
        "judged",
        description="which are searched, of those that the classifier gets right: those that the validators call valid "
        "with their label, or any",
    )
    attempts: int = Field(100, ge=1, description="how many starting images to try")
    seed: int = Field(0, ge=0, description="of all randomness")
    generator: Part = Field(description="makes the images: zoo name, .safetensors file, file.py:Name or a table")
    classifier: Part = Field(
        description="the tested one: zoo name, model file, hub name, address, file.py:Name or a table"
    )
    classifiers: dict[str, Part] = Field(
        {}, description="the other roles, such as rival; calls of one whose name begins with surrogate are not counted"
    )
    search: Part = Field(
        Part(use="auto"),
        description="where to look next; auto: descent where the tested classifier lends gradients, else transfer or genetic",
    )
    objective: Part = Field(Part(use="margin"), description="what the search minimises")
    oracle: Part = Field(Part(use="misclassified"), description="what a failure is")
    validators: tuple[Part, ...] | None = Field(
        None, description="who says which failures count; left out: the domain's judge where there is one; []: nobody"
    )
    ends: Literal["confirmed", "first", "never"] = Field(
        "confirmed",
        description="which failure ends a search before its budget does: one that survives rounding, any, none",
    )
    keeps: Literal["best", "every"] = Field("best", description="which of the failures of an attempt are kept")
    rank: str | None = Field(
        None, description="the column by which the best is chosen; left out: the objective's first"
    )
    steers: bool = Field(False, description="whether the validators' word enters the score")
    steadiness: bool = Field(
        True, description="look at every failure through harmless variations; not counted as evaluations"
    )
    wave: int = Field(16, ge=1, description="attempts between two merges of a memory that the run shares")
    budget: BudgetTable = BudgetTable()
    baseline: BaselineTable = BaselineTable()
    engine: EngineTable = EngineTable()

    @field_validator("classes", "targets", mode="before")
    @classmethod
    def _one_or_several(cls, said: Any) -> Any:
        several = said if isinstance(said, list | tuple) else [said]
        return None if said is None else [str(one) if isinstance(one, int) else one for one in several]

    @model_validator(mode="before")
    @classmethod
    def _tested_role(cls, facts: Any) -> Any:
        """`[classifiers] tested = ...` is another way to write `classifier = ...`."""
        if isinstance(facts, dict) and isinstance(facts.get("classifiers"), Mapping):
            others = dict(facts["classifiers"])
            if TESTED in others:
                facts = {**facts, "classifier": others.pop(TESTED), "classifiers": others}
        return facts

    def resolved(self) -> dict[str, Any]:
        """The recipe with every default written out, as it goes into the manifest."""
        return self.model_dump(mode="json")


def load_recipe(reference: str | Path | Mapping[str, Any] | Recipe, changes: Mapping[str, Any] | None = None) -> Recipe:
    """A recipe by name, by TOML file, or from a mapping.

    Args:
        reference: a built-in name, the path of a TOML file, a mapping, or a recipe.
        changes: values to put in place, with dotted keys: {"search.population": 50, "attempts": 10}.
    """
    facts, origin = _facts(reference)
    for key, value in (changes or {}).items():
        _put(facts, key, value)
    try:
        return Recipe(**facts)
    except ValidationError as error:
        raise _explained(error, origin) from error


def _facts(reference: str | Path | Mapping[str, Any] | Recipe) -> tuple[dict[str, Any], str]:
    if isinstance(reference, Recipe):
        return reference.model_dump(exclude_unset=True), f"recipe '{reference.name}'"
    if isinstance(reference, Mapping):
        return dict(reference), "recipe"
    if reference in recipe_names():
        return {"name": str(reference), **built_in_recipe(str(reference))}, f"recipe '{reference}'"
    path = Path(reference)
    if path.suffix != ".toml" or not path.is_file():
        raise RecipeError(
            f"no recipe '{reference}'",
            did_you_mean(str(reference), recipe_names()) + "; the path of a .toml file works too",
        )
    try:
        return {"name": path.stem, **tomllib.loads(path.read_text())}, f"recipe '{path.name}'"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(
            f"recipe '{path}' is not TOML: {error}", "compare it with a built-in one: foible ls recipes"
        ) from error


def _put(facts: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".")
    for step in path:
        inner = facts.get(step, {})
        facts[step] = {"use": inner} if isinstance(inner, str) else dict(inner)
        facts = facts[step]
    facts[last] = value


def _explained(error: ValidationError, origin: str) -> RecipeError:
    """Pydantic's first complaint as one sentence and a hint."""
    first = error.errors()[0]
    place = ".".join(str(p) for p in first["loc"])
    if first["type"] == "extra_forbidden":
        if place in FORMER:
            return RecipeError(f"{origin}: '{place}' is no longer a key", FORMER[place])
        known = _keys_at(first["loc"][:-1])
        return RecipeError(f"{origin} has an unknown key '{place}'", did_you_mean(str(first["loc"][-1]), known))
    if first["type"] == "missing":
        return RecipeError(
            f"{origin} lacks '{place}'", f'add a line such as {place} = "..."; `foible ls` shows what there is'
        )
    hint = "see docs/concepts.md for every key"
    if place == "origins" and first["input"] in {"auto", "real", "sampled"}:
        hint = f'what searches begin from is now written begins = "{first["input"]}"'
    return RecipeError(f"{origin}: '{place}' = {first['input']!r} is wrong: {first['msg']}", hint)


def _keys_at(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Recipe
    for step in location:
        annotation = model.model_fields[str(step)].annotation if str(step) in model.model_fields else None
        inner = next(
            (a for a in (annotation, *get_args(annotation)) if isinstance(a, type) and issubclass(a, BaseModel)), None
        )
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)
