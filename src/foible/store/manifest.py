"""The manifest: what a run is, written once before the first image."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from foible.errors import StoreError
from foible.files import write_whole
from foible.store.layout import Layout


class Manifest(BaseModel):
    """Everything needed to repeat a run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = 1
    recipe: dict[str, Any]
    digests: dict[str, str]  # sha256 of every weights or source file
    data: str  # where the real images came from
    classes: tuple[str, ...]
    shape: tuple[int, int, int]
    chunk: int
    device: str
    threads: int
    versions: dict[str, str]
    created: str

    def identity(self) -> dict[str, Any]:
        """What must not change between a run and its resumption; how long and on what it computes may."""
        recipe = {k: v for k, v in self.recipe.items() if k != "engine"}
        recipe["budget"] = {k: v for k, v in recipe["budget"].items() if k != "seconds"}
        return {"recipe": recipe, "digests": self.digests, "data": self.data}


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
    try:
        return Manifest(**json.loads(layout.manifest.read_text()))
    except (ValidationError, ValueError) as error:
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
