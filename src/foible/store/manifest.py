"""The manifest: what a run is, written once before the first image."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from foible.errors import StoreError
from foible.files import write_whole
from foible.store.database import FORMAT, other_format
from foible.store.layout import Layout, no_links_outside, read_inside

# What readers rely on in a recipe, and what stands there where nothing is written.
LONGEST_SIDE = 1 << 16
TEXTS = {"name": "run", "title": "", "domain": ""}
NUMBERS = ("attempts", "seed")
PARTS = ("generator", "classifier", "search", "objective", "oracle", "baseline")


class Manifest(BaseModel):
    """Everything needed to repeat a run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    recipe: dict[str, Any]
    digests: dict[str, str]  # sha256 of every weights or source file
    data: str  # where the real images came from
    classes: tuple[str, ...]
    shape: tuple[int, int, int]
    chunk: int
    packing: str  # how candidates were packed into chunks: docs/concepts.md, what is deterministic
    device: str
    threads: int
    versions: dict[str, str]
    created: str

    @field_validator("recipe")
    @classmethod
    def _whole_recipe(cls, recipe: dict[str, Any]) -> dict[str, Any]:
        recipe = _named_anew(recipe)
        return recipe | _relied_on(recipe)

    @field_validator("shape")
    @classmethod
    def _possible_shape(cls, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        if min(shape) < 1 or max(shape) > LONGEST_SIDE:
            raise ValueError(f"no image has the shape {shape}")
        return shape

    def identity(self) -> dict[str, Any]:
        """What must not change between a run and its resumption; how long and on what it computes may.

        A key that is not set is left out: one that a later release has added changes nothing about an earlier run.
        """
        recipe = {k: v for k, v in self.recipe.items() if k != "engine" and v is not None}
        recipe["budget"] = {k: v for k, v in recipe["budget"].items() if k != "seconds"}
        return {"recipe": recipe, "digests": self.digests, "data": self.data}


def _named_anew(recipe: dict[str, Any]) -> dict[str, Any]:
    """A recipe from before origins were judged: the key said what searches begin from, and any origin was searched."""
    if "begins" in recipe or "origins" not in recipe:
        return recipe
    return recipe | {"begins": recipe["origins"], "origins": "any"}


def _relied_on(recipe: dict[str, Any]) -> dict[str, Any]:
    """The values of a recipe that readers rely on; a value of another kind is damage."""
    facts: dict[str, Any] = {key: recipe.get(key, default) for key, default in TEXTS.items()}
    facts |= {key: recipe.get(key, 0) for key in NUMBERS}
    facts |= {key: {"use": "?"} | dict(recipe.get(key) or {}) for key in PARTS}
    facts["baseline"] = {"attempts": 0} | facts["baseline"]
    facts["budget"] = {"evaluations": 0} | dict(recipe.get("budget") or {})
    facts["validators"] = [{"use": "?"} | dict(part) for part in recipe.get("validators") or ()]
    facts["classifiers"] = {str(k): {"use": "?"} | dict(v) for k, v in dict(recipe.get("classifiers") or {}).items()}
    texts = [part["use"] for part in facts["classifiers"].values()]
    texts += [facts[key] for key in TEXTS] + [facts[key]["use"] for key in PARTS]
    texts += [part["use"] for part in facts["validators"]]
    numbers = [facts[key] for key in NUMBERS] + [facts["baseline"]["attempts"], facts["budget"]["evaluations"]]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name in the recipe is not a text")
    if not all(isinstance(number, int) and 0 <= number < 2**53 for number in numbers):
        raise ValueError("a number in the recipe is not a whole number")
    return facts


def versions() -> dict[str, str]:
    """The software a run was made with."""
    return {"python": platform.python_version(), **{p: version(p) for p in ("foible", "torch", "numpy", "pillow")}}


def now() -> str:
    """The time as it is written into a run."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_manifest(layout: Layout, manifest: Manifest) -> None:
    """Write the manifest whole or not at all."""
    write_whole(layout.manifest, manifest.model_dump_json(indent=2) + "\n")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run folder."""
    layout = Layout(folder)
    if not layout.manifest.is_file():
        raise StoreError(
            f"'{folder}' is not a run folder: it has no manifest.json", "name the folder given to `foible run --out`"
        )
    no_links_outside(folder)
    try:
        facts = json.loads(read_inside(folder, layout.manifest.name))
        if isinstance(facts, dict) and isinstance(found := facts.get("format"), int) and found != FORMAT:
            raise other_format(folder, found)
        return Manifest(**facts)
    except (ValidationError, ValueError, TypeError, RecursionError) as error:
        raise StoreError(
            f"'{layout.manifest}' is damaged: {error}", "restore it from a copy; images and database are untouched"
        ) from error


def differences(before: Any, after: Any, path: str = "") -> list[str]:
    """Where two nested values differ, as "search.population: 25 -> 50"."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = sorted({*before, *after})
        return [
            line for k in keys for line in differences(before.get(k), after.get(k), f"{path}.{k}" if path else str(k))
        ]
    return [] if before == after else [f"{path}: {before} -> {after}"]
