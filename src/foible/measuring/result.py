"""The figures of a measurement, as values that can be written to a file and read back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict
from torch import Tensor

from foible.coverage import Criterion, Profile
from foible.coverage.activation import NC
from foible.coverage.cells import Cells
from foible.coverage.sections import KMNC
from foible.coverage.surprise import Surprise
from foible.measuring.measure import Seen
from foible.metrics import Rate, rate
from foible.types import State

OWN = {"profile", "state"}  # fields of a criterion that are no settings
MEANING = (
    "Activation coverage describes which internal behaviours a suite exercised; it is not evidence of correctness or "
    "robustness."
)


class Frozen(BaseModel):
    """A value."""

    model_config = ConfigDict(frozen=True)


class Covered(Frozen):
    """What one criterion says of one suite; `value` is a share, a count or a spread, as `measure` says."""

    name: str
    title: str
    measure: str
    settings: dict[str, Any]
    value: float | None
    per_layer: tuple[float | None, ...]
    covered: int
    open: int
    constant: int
    infeasible: int
    notes: tuple[str, ...] = ()


class SuiteFigures(Frozen):
    """What a suite came to: accuracy and uncertainty beside the coverage."""

    name: str
    source: str
    inputs: int
    accuracy: Rate | None
    uncertainty: float
    criteria: tuple[Covered, ...]


class LayerMap(Frozen):
    """How much of its usual range each unit of a layer was driven through, and which never stood out in the layer."""

    layer: str
    visited: tuple[float, ...]
    never: tuple[int, ...]
    constant: tuple[int, ...]


class Difference(Frozen):
    """How many obligations of a criterion two suites cover: both of them, or only one."""

    name: str
    both: int
    first: int
    second: int


class Measurement(Frozen):
    """All figures of one command."""

    model: str
    digest: str
    domain: str
    meaning: str = MEANING
    scope: str
    unit: str
    where: str
    layers: tuple[str, ...]
    widths: tuple[int, ...]
    trace: tuple[str, ...]
    profile: str
    profiled: int
    suites: tuple[SuiteFigures, ...]  # the first is the one that was asked about, the last the control
    differences: tuple[Difference, ...] = ()
    maps: tuple[LayerMap, ...] = ()
    left_out: dict[str, str] = {}
    versions: dict[str, str] = {}


def suite_figures(name: str, source: str, seen: Seen, criteria: Mapping[str, Criterion]) -> SuiteFigures:
    """The figures of a suite from what the criteria remember."""
    accuracy = rate(seen.right, seen.labelled) if seen.labelled else None
    every = tuple(covered_by(criterion) for criterion in criteria.values())
    return SuiteFigures(
        name=name, source=source, inputs=seen.inputs, accuracy=accuracy, uncertainty=seen.uncertainty, criteria=every
    )


def covered_by(criterion: Criterion) -> Covered:
    """What a criterion says."""
    parts = criterion.obligations()
    settings = {
        f.name: getattr(criterion, f.name) for f in dataclasses.fields(criterion) if f.init and f.name not in OWN
    }
    value = criterion.value()
    return Covered(
        name=criterion.name,
        title=criterion.title,
        measure=criterion.measure,
        settings=settings,
        value=None if math.isnan(value) else value,
        per_layer=tuple(None if math.isnan(v) else v for v in criterion.per_layer().tolist()),
        covered=len(parts.covered),
        open=len(parts.open),
        constant=len(parts.constant),
        infeasible=len(parts.infeasible),
        notes=tuple(_notes(criterion)),
    )


def _notes(criterion: Criterion) -> list[str]:
    notes = []
    if isinstance(criterion, Surprise):
        below, above, nowhere = criterion.state["outside"].tolist()
        low, high = criterion.bounds
        notes.append(f"scores from {low:.4g} to {high:.4g}; {below:,} below, {above:,} above, {nowhere:,} infinite")
    if "dropped" in criterion.state and int(criterion.state["dropped"]):
        notes.append(f"a lower bound: {int(criterion.state['dropped']):,} inputs are no longer compared with")
    return notes


def layer_maps(profile: Profile, sections: KMNC, activation: NC) -> tuple[LayerMap, ...]:
    """The map of each layer."""
    scope = profile.scope
    visited = sections.covered(sections.state).view(scope.units, -1).double().mean(1)
    silent = ~activation.covered(activation.state)

    def numbers(mask: Tensor, part: slice) -> tuple[int, ...]:
        return tuple(mask[part].nonzero()[:, 0].tolist())

    return tuple(
        LayerMap(
            layer=name,
            visited=tuple(visited[part].tolist()),
            never=numbers(silent, part),
            constant=numbers(profile.constant, part),
        )
        for name, part in zip(scope.layers, scope.slices, strict=True)
    )


def differences(
    criteria: Mapping[str, Criterion], first: Mapping[str, State], second: Mapping[str, State]
) -> tuple[Difference, ...]:
    """Which obligations only one of two suites covers, by criterion."""
    found = []
    for name, criterion in criteria.items():
        if not isinstance(criterion, Cells):
            continue
        one, other = (set(criterion.obligations(state[name]).covered.tolist()) for state in (first, second))
        found.append(Difference(name=name, both=len(one & other), first=len(one - other), second=len(other - one)))
    return tuple(found)


def versions() -> dict[str, str]:
    """Of what the figures were made with."""
    from importlib.metadata import version

    return {"foible": version("foible"), "torch": torch.__version__}
