"""What was tested, with what, and how far the run is."""

from __future__ import annotations

import shlex
from typing import Any

from pydantic import BaseModel, ConfigDict

from foible.report.wording import short_name
from foible.store import Run


class RunFacts(BaseModel):
    """The identity of a run: enough to know what its numbers are about, and to make them again."""

    model_config = ConfigDict(frozen=True)

    name: str
    title: str
    folder: str
    state: str
    attempts_planned: int
    baseline_planned: int
    budget_evaluations: int
    seed: int
    domain: str
    data: str
    classifier: str
    generator: str
    search: str
    objective: str
    oracle: str
    baseline: str
    validators: tuple[str, ...]
    classes: tuple[str, ...]
    shape: tuple[int, int, int]
    device: str
    threads: int
    chunk: int
    created: str
    versions: dict[str, str]
    digests: dict[str, str]
    recipe: dict[str, Any]

    @property
    def quoted_folder(self) -> str:
        """The run folder as it must be typed in a shell."""
        return shlex.quote(self.folder)


def run_facts(run: Run) -> RunFacts:
    """The facts of a run, from its manifest."""
    manifest, recipe = run.manifest, run.manifest.recipe
    parts = ("classifier", "generator", "search", "objective", "oracle", "baseline")
    return RunFacts(
        name=run.name,
        title=recipe.get("title") or run.name,
        folder=str(run.layout.folder),
        state=run.state,
        attempts_planned=recipe["attempts"],
        baseline_planned=min(recipe["baseline"]["attempts"], recipe["attempts"]),
        budget_evaluations=recipe["budget"]["evaluations"],
        seed=recipe["seed"],
        domain=recipe["domain"],
        validators=tuple(short_name(v["use"]) for v in recipe["validators"]),
        **{part: short_name(recipe[part]["use"]) for part in parts},
        **manifest.model_dump(
            include={
                "data",
                "classes",
                "shape",
                "device",
                "threads",
                "chunk",
                "created",
                "versions",
                "digests",
                "recipe",
            }
        ),
    )
