"""The file of a matrix recipe: where it is, and that its shape is right (see recipes/gift.toml)."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from foible.campaign.built_in import RECIPES
from foible.errors import RecipeError, did_you_mean

NAME = re.compile(r"[A-Za-z0-9][\w.-]*")  # of a cell's part: its run gets a folder of that name
HINT = "compare it with a built-in one, such as recipes/gift.toml: [shared], then one [[axes]] per axis"


def matrix_names() -> list[str]:
    """The benchmarks that come with foible."""
    return sorted(path.stem for path in RECIPES.glob("*.toml") if "axes" in tomllib.loads(path.read_text()))


def study_path(reference: str | Path) -> Path:
    """The file behind one of `matrix_names()` or a path."""
    if str(reference) in matrix_names():
        return RECIPES / f"{reference}.toml"
    path = Path(reference)
    if path.suffix != ".toml" or not path.is_file():
        raise RecipeError(
            f"no benchmark '{reference}'",
            did_you_mean(str(reference), matrix_names()) + "; the path of a .toml file works too",
        )
    return path


def read_study(path: Path) -> dict[str, Any]:
    """What the file says, with a title for everything, once its shape is known to be right."""
    try:
        study = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"benchmark '{path}' is not TOML: {error}", HINT) from error
    wrong = next(_wrong(path.stem, study), None)
    if wrong:
        raise RecipeError(f"benchmark '{path}' {wrong[0]}", wrong[1])
    shared = {"title": path.stem} | study.get("shared", {})
    axes = [
        {name: part | {"title": str(part.get("title", name))} for name, part in axis.items()} for axis in study["axes"]
    ]
    return {"shared": shared | {"title": str(shared["title"])}, "axes": axes}


def _wrong(stem: str, study: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the shape of a study, and what to do about it."""
    for unknown in sorted(study.keys() - {"shared", "axes"}):
        yield f"has an unknown key '{unknown}'", HINT
    axes = study.get("axes")
    if not isinstance(axes, list) or not axes:
        yield "has no [[axes]]", HINT
    if not isinstance(study.get("shared", {}), dict):
        yield "has a 'shared' that is not a table of recipe values", HINT
    for number, axis in enumerate(axes or (), 1):
        if not isinstance(axis, dict) or not axis:
            yield f"has no cell in axis {number}", HINT
        for name, part in axis.items():
            if not isinstance(part, dict):
                yield f"has in axis {number} a '{name}' that is not a table of recipe values", HINT
            if not NAME.fullmatch(name):
                yield (
                    f"has in axis {number} a '{name}', which cannot be part of a folder's name",
                    "use letters, digits, '-', '_' and '.', beginning with a letter or a digit",
                )
    yield from _twice(stem, axes or ())


def _twice(stem: str, axes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    called = Counter("-".join([stem, *parts]) for parts in product(*axes))
    for name in (name for name, count in called.items() if count > 1):
        yield f"has two cells '{name}'", "rename a part, so that each gets a folder of its own"
