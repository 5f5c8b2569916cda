"""The built-in recipes. A file is one recipe, or a study: what its recipes share, and axes whose cells are combined.

A study's recipe is named after the file and one cell of every axis, `gift` + `mnist-vae` + `low`; it says what is
shared and what the cells say, and its title is theirs, joined.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from functools import cache, reduce
from itertools import product
from pathlib import Path
from typing import Any

RECIPES = Path(__file__).parents[1] / "recipes"


def recipe_names() -> list[str]:
    """The built-in recipes."""
    return sorted(_built_in())


def built_in_recipe(name: str) -> dict[str, Any]:
    """What a built-in recipe says, by its name."""
    return deepcopy(_built_in()[name])


def combined(stem: str, study: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The recipes of a study, by name."""
    found = {}
    for cells in product(*(axis.items() for axis in study["axes"])):
        names, parts = zip(*cells, strict=True)
        recipe = reduce(_laid_over, parts, study["shared"])
        title = ", ".join(part["title"] for part in (study["shared"], *parts))
        found["-".join([stem, *names])] = {**recipe, "title": title}
    return found


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two tables as one: what is above wins, and tables in both are laid over each other."""
    both = {k: _laid_over(below[k], v) for k, v in above.items() if isinstance(v, dict) and k in below}
    return {**below, **above, **both}


@cache
def _built_in() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(RECIPES.glob("*.toml")):
        facts = tomllib.loads(path.read_text())
        found |= combined(path.stem, facts) if "axes" in facts else {path.stem: facts}
    return found
