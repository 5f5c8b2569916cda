"""A matrix recipe: what its cells share, and axes whose cells are combined (see recipes/gift.toml)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any

from foible.benchmark.study_file import read_study, study_path
from foible.campaign import Recipe, load_recipe
from foible.campaign.built_in import combined
from foible.errors import FoibleError, RecipeError, did_you_mean
from foible.registry import find, names_a_file, refuse_unfit

NAMED = 5  # wrong cells named in one message


@dataclass(frozen=True)
class Cell:
    """One run of a benchmark: its place on every axis, and its recipe."""

    name: str
    parts: tuple[str, ...]
    titles: tuple[str, ...]
    recipe: Recipe

    @property
    def evaluations(self) -> int:
        """What it costs if no origin ever fails."""
        planned = self.recipe.attempts + min(self.recipe.attempts, self.recipe.baseline.attempts)
        return planned * self.recipe.budget.evaluations


@dataclass(frozen=True)
class Matrix:
    """A benchmark: its cells in the order of its axes."""

    name: str
    title: str
    cells: tuple[Cell, ...]


def load_matrix(
    reference: str | Path,
    changes: Mapping[str, Any] | None = None,
    only: Sequence[str] = (),
    seeds: int = 1,
) -> Matrix:
    """A benchmark by name or by TOML file, every cell of it checked.

    Args:
        reference: one of `matrix_names()`, or the path of a file with [shared] and [[axes]].
        changes: values to put in place in every cell, with dotted keys.
        only: patterns such as "mnist-*" and "low": of an axis that some match, the other cells are left out.
        seeds: how often each cell is run, with seeds that follow each other.
    """
    path = study_path(reference)
    study = read_study(path)
    if seeds < 1:
        raise RecipeError(f"--seeds {seeds} is not a number of repetitions", "use 1 or more")
    chosen = _chosen(study["axes"], only)
    cells: list[Cell] = []
    wrong: list[str] = []
    places = product(*(axis for axis in study["axes"]))
    for parts, (name, facts) in zip(places, combined(path.stem, study).items(), strict=True):
        if parts not in chosen:
            continue
        titles = tuple(str(axis[part]["title"]) for axis, part in zip(study["axes"], parts, strict=True))
        try:
            cells += _repeated(name, parts, titles, facts, dict(changes or {}), seeds)
        except FoibleError as error:
            wrong.append(f"cell '{name}': {error.message}" + (f" ({error.hint})" if error.hint else ""))
    if wrong:
        more = f"\n    and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        raise RecipeError(
            f"benchmark '{path.stem}' is wrong in:" + "".join(f"\n    {line}" for line in wrong[:NAMED]) + more,
            f"put '{path.name}' right; foible ls recipes shows sound ones",
        )
    return Matrix(path.stem, str(study["shared"].get("title", path.stem)), tuple(cells))


def _repeated(
    name: str,
    parts: tuple[str, ...],
    titles: tuple[str, ...],
    facts: dict[str, Any],
    changes: dict[str, Any],
    seeds: int,
) -> Iterable[Cell]:
    """A cell, or one for every seed."""
    first = load_recipe({"name": name, **facts}, changes)
    _refuse_unknown_parts(first)
    if seeds == 1:
        return [Cell(name, parts, titles, first)]
    made = []
    for seed in range(first.seed, first.seed + seeds):
        called = f"{name}-seed-{seed}"
        recipe = load_recipe({**facts, "name": called}, changes | {"seed": seed})
        made.append(Cell(called, (*parts, f"seed-{seed}"), (*titles, f"seed {seed}"), recipe))
    return made


def _refuse_unknown_parts(recipe: Recipe) -> None:
    """Name a search, objective or oracle that does not exist, or a parameter that it does not have, before anything runs."""
    parts = {"searches": [recipe.search, recipe.baseline], "objectives": [recipe.objective], "oracles": [recipe.oracle]}
    for heading, part in ((heading, part) for heading, some in parts.items() for part in some):
        if part.use == "auto" or names_a_file(part.use):  # chosen later; a file is not run to be listed
            continue
        refuse_unfit(heading, part.use, find(heading, part.use), part.parameters)


def _chosen(axes: Sequence[Mapping[str, Any]], only: Sequence[str]) -> set[tuple[str, ...]]:
    """The places of the sub-matrix that patterns describe."""
    kept: list[list[str]] = []
    idle = set(only)
    for axis in axes:
        matching = [part for part in axis if any(fnmatchcase(part, pattern) for pattern in only)]
        idle -= {pattern for pattern in only if any(fnmatchcase(part, pattern) for part in axis)}
        kept.append(matching or list(axis))
    if idle:
        known = [part for axis in axes for part in axis]
        pattern = sorted(idle)[0]
        raise RecipeError(f"--only '{pattern}' matches no cell of any axis", did_you_mean(pattern, known))
    return set(product(*kept))
