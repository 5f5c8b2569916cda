"""All of `foible coverage`: from names to figures, in a folder of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from foible.classifiers.scopes import scope_of
from foible.coverage import Criterion, Profile, load_profile, save_profile
from foible.coverage.activation import NC
from foible.coverage.scope import Unit, Where
from foible.coverage.sections import KMNC
from foible.domains import load_domain, real_images
from foible.errors import RecipeError, did_you_mean
from foible.files import write_whole
from foible.measuring.measure import Criteria, cover, criteria_of, profiled
from foible.measuring.page import write_coverage_page
from foible.measuring.prioritise import Orders, prioritised, write_orders
from foible.measuring.result import (
    LayerMap,
    Measurement,
    SuiteFigures,
    differences,
    layer_maps,
    suite_figures,
    versions,
)
from foible.measuring.runs import run_suites
from foible.measuring.suites import Ordinary, Suite, control_suite, folder_suite, ordinary_suites
from foible.types import State
from foible.zoo import resolve


@dataclass(frozen=True)
class Request:
    """What to measure.

    Args:
        model: the classifier: a zoo name, a model file, a hub name or file.py:Name.
        domain: what it is for.
        images: the suite; left out: the domain's test images.
        against: another suite to compare with.
        runs: folders of runs in the place of a suite: what their origins and failures cover.
        data: where the domain's real images are.
        profile: a saved profile; left out: one is fitted.
        profile_count: the most images to fit it on.
        criteria: names, or "all".
        settings: of criteria, by name.
        layers: which; left out: found by what they are.
        trace: the layers by which surprise is measured.
        where: before or after the activation function.
        unit: a channel or every position.
        prioritise: whether to order the suite.
        parameters: of the model.
    """

    model: str
    domain: str
    images: Path | None = None
    against: Path | None = None
    data: str | None = None
    profile: Path | None = None
    profile_count: int = 10_000
    criteria: Sequence[str] = ("all",)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    layers: Sequence[str] = ()
    trace: Sequence[str] = ()
    where: Where = "pre"
    unit: Unit = "channel"
    prioritise: bool = False
    runs: Sequence[Path] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    measurement: Measurement
    profile: Profile
    orders: Orders | None


def measure(request: Request) -> Outcome:
    """Profile a classifier, or take a saved profile, and measure suites and the control."""
    for name, value, known in (
        ("where", request.where, ("pre", "post")),
        ("unit", request.unit, ("channel", "element")),
    ):
        if value not in known:
            raise RecipeError(f"--{name} is '{value}'", did_you_mean(value, known))
    if request.runs and (request.images or request.against):
        raise RecipeError("--runs are suites of their own", "leave --images and --against out")
    domain = load_domain(request.domain)
    ordinary = ordinary_suites(domain, request.data, request.profile_count)
    found = resolve("classifiers", request.model, dict(request.parameters), domain, real_images(domain, request.data))
    try:
        digest = _digest(found.digests)
        profile = _profile(request, found.model, ordinary, digest)
        named = folder_suite(request.images, domain) if request.images else ordinary.suite
        suites = run_suites(request.runs, domain) or [named]
        suites += [folder_suite(request.against, domain)] if request.against else []
        criteria = criteria_of(profile, request.criteria, request.settings)
        covered = _covered(found.model, suites, ordinary, criteria, profile)
        orders = prioritised(found.model, suites[0], criteria.chosen, profile.scope) if request.prioritise else None
    finally:
        if callable(close := getattr(found.model, "close", None)):
            close()
    scope = profile.scope
    measurement = Measurement(
        model=found.model.name,
        digest=digest,
        domain=domain.name,
        scope=str(scope),
        unit=scope.unit,
        where=scope.where,
        layers=scope.layers,
        widths=scope.widths,
        trace=scope.trace or scope.layers[-2:-1] or scope.layers,
        profile=profile.source,
        profiled=profile.count,
        suites=tuple(covered.figures),
        differences=differences(criteria.chosen, *covered.states[:2]) if request.against else (),
        maps=covered.maps,
        left_out=criteria.left_out,
        versions=versions(),
    )
    return Outcome(measurement, profile, orders)


def _profile(request: Request, model: Any, ordinary: Ordinary, digest: str) -> Profile:
    if request.profile is not None:
        return load_profile(request.profile, digest)
    probe = next(ordinary.profile.parts()).images[:2]
    scope = scope_of(model, probe, request.layers, request.where, request.unit, request.trace)
    return profiled(model, ordinary.profile, scope, digest)


class Coverage(NamedTuple):
    """Figures and memories of each suite and, last, of the control; and the map of the first."""

    figures: list[SuiteFigures]
    states: list[dict[str, State]]
    maps: tuple[LayerMap, ...]


def _covered(model: Any, suites: Sequence[Suite], ordinary: Ordinary, criteria: Criteria, profile: Profile) -> Coverage:
    sections, activation = KMNC(profile), NC(profile)  # the map has settings of its own
    drawn: dict[str, Criterion] = {"map of sections": sections, "map of activations": activation}
    found = Coverage([], [], ())
    for planned in (*suites, None):
        suite = planned or control_suite(ordinary, found.figures[0].inputs)
        for criterion in criteria.chosen.values():
            criterion.state = criterion.empty()
        seen = cover(model, suite, criteria.chosen | ({} if found.figures else drawn), profile.scope)
        found.figures.append(suite_figures(suite.name, suite.source, seen, criteria.chosen))
        found.states.append({name: criterion.state for name, criterion in criteria.chosen.items()})
    return found._replace(maps=layer_maps(profile, sections, activation))


def write(outcome: Outcome, folder: Path) -> Path:
    """Write profile, figures, page and orders into a folder; gives the page."""
    folder.mkdir(parents=True, exist_ok=True)
    save_profile(outcome.profile, folder / "profile.safetensors")
    write_whole(folder / "coverage.json", outcome.measurement.model_dump_json(indent=2) + "\n")
    if outcome.orders is not None:
        write_orders(outcome.orders, folder / "orders.csv")
    return write_coverage_page(outcome.measurement, outcome.orders, folder / "coverage.html")


def _digest(digests: Mapping[str, str]) -> str:
    """One digest of all files a model came from."""
    if len(digests) == 1:
        return next(iter(digests.values()))
    return (
        sha256("".join(f"{k}={v}\n" for k, v in sorted(digests.items())).encode()).hexdigest() if digests else "unknown"
    )
