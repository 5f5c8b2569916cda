"""The class-escape matrix: from which class does a small change lead to which other, how often and how far?

A study over an ordinary run that aims at classes (`targets` in its recipe, oracle `targeted`). A cell is an ordered pair
(class, target): of the accepted origins, how many reached the target, with Wilson's 95 % interval, the median distance of
those that did, and the nearest of them as an example. Origins that the classifier gets wrong were never searched and are
not counted. A share without an effort means little, since with enough of it nearly every class can be left: `within` counts
only escapes of at most that latent distance (L1 where the run measured it, else L2), `evaluations` only those that were
found that early.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from foible.errors import RecipeError
from foible.metrics.rates import Rate, rate
from foible.records import Finding
from foible.store import Run


@dataclass(frozen=True)
class Cell:
    """An ordered pair of classes: the share that escaped, how far, and the image of the nearest escape."""

    label: int
    target: int
    escaped: Rate
    distance: float | None
    example: str | None


@dataclass(frozen=True)
class Escapes:
    """The matrix; cells go by (label, target)."""

    classes: tuple[str, ...]
    cells: dict[tuple[int, int], Cell]
    within: float | None
    evaluations: int | None
    unit: str

    @property
    def effort(self) -> str:
        """In words, what an escape was allowed to cost."""
        limits = [
            f"within {self.within:.4g} ({self.unit})" if self.within is not None else "",
            f"in {self.evaluations} evaluations" if self.evaluations is not None else "",
        ]
        return " and ".join(limit for limit in limits if limit) or "within the run's budget"


def escapes(run: Run, within: float | None = None, evaluations: int | None = None) -> Escapes:
    """The escape matrix of a run.

    Args:
        run: one whose searches aimed at classes.
        within: only escapes of at most this latent distance count.
        evaluations: only escapes found after at most so many evaluations count.
    """
    for name, limit in (("within", within), ("evaluations", evaluations)):
        if limit is not None and limit <= 0:
            raise RecipeError(f"{name} {limit} must be above 0")
    tried = [o for o in run.outcomes() if o.target >= 0]
    if not tried:
        raise RecipeError(
            f"'{run.layout.folder}' aims at no class, so nothing is known about escapes from one to another",
            'add targets = [...] and oracle = "targeted" to its recipe, or start with: foible run escapes',
        )
    found = {f.attempt: f for f in run.findings()}
    unit = _unit(found.values())
    totals: dict[tuple[int, int], int] = {}
    reached: dict[tuple[int, int], list[Finding]] = {}
    for outcome in tried:
        if not outcome.accepted:
            continue
        pair = outcome.label, outcome.target
        totals[pair] = totals.get(pair, 0) + 1
        finding = found.get(outcome.attempt)
        if finding and _cheap(finding, unit, within, evaluations):
            reached.setdefault(pair, []).append(finding)
    cells = {pair: _cell(pair, total, reached.get(pair, []), unit) for pair, total in sorted(totals.items())}
    return Escapes(run.classes, cells, within, evaluations, unit)


def usual_distance(run: Run) -> float | None:
    """The median distance of all escapes of a run: within it, easy pairs and hard ones differ most."""
    found = list(run.findings())
    return median(_distance(f, _unit(found)) for f in found) if found else None


def _unit(found: Iterable[Finding]) -> str:
    return "L1" if all("l1" in f.measures for f in found) else "L2"


def _cheap(finding: Finding, unit: str, within: float | None, evaluations: int | None) -> bool:
    near = within is None or _distance(finding, unit) <= within
    return near and (evaluations is None or finding.evaluations <= evaluations)


def _distance(finding: Finding, unit: str) -> float:
    return finding.measures["l1"] if unit == "L1" else finding.latent_distance


def _cell(pair: tuple[int, int], total: int, found: list[Finding], unit: str) -> Cell:
    ranked = sorted(found, key=lambda f: (_distance(f, unit), f.attempt))
    distance = median(_distance(f, unit) for f in ranked) if ranked else None
    return Cell(*pair, rate(len(ranked), total), distance, ranked[0].image if ranked else None)
