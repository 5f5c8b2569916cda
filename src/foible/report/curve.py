"""The curve every search is judged by: how many of its origins have failed after so many evaluations.

All accepted origins are in the denominator, solved or not, so a search that gives up early gains nothing. The drawing
is in percent of its box and scales to any width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foible.names import Status
from foible.records import Outcome


@dataclass(frozen=True)
class Curve:
    """One arm's steps as SVG points in a box of 100 x 100, and what it is called."""

    name: str
    points: str
    solved: int
    total: int


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: its place in percent and its text."""

    place: float
    text: str


@dataclass(frozen=True)
class Chart:
    """The curves of both arms with the marks of the horizontal axis."""

    curves: tuple[Curve, ...]
    ticks: tuple[Tick, ...]


def chart(arms: Sequence[tuple[str, Sequence[Outcome]]], budget: int) -> Chart:
    """Draw arms given as (name, outcomes) up to the budget."""
    accepted = [(name, [o for o in outcomes if o.accepted]) for name, outcomes in arms]
    reach = max([budget, *(o.evaluations for _, outcomes in accepted for o in outcomes)])
    step = _round_step(reach)
    ticks = tuple(Tick(100 * x / reach, f"{x:,}") for x in range(0, reach + 1, step))
    return Chart(tuple(_curve(name, outcomes, reach) for name, outcomes in accepted if outcomes), ticks)


def _curve(name: str, outcomes: Sequence[Outcome], reach: int) -> Curve:
    solved = sorted(o.evaluations for o in outcomes if o.status is Status.FOUND)
    height, points = 100.0, ["0,100"]
    for number, evaluations in enumerate(solved, 1):
        x = 100 * evaluations / reach
        points.append(f"{x:.2f},{height:.2f}")
        height = 100 - 100 * number / len(outcomes)
        points.append(f"{x:.2f},{height:.2f}")
    points.append(f"100,{height:.2f}")
    return Curve(name, " ".join(points), len(solved), len(outcomes))


def _round_step(reach: int) -> int:
    """A round distance between marks that gives three to six of them."""
    size = int(10.0 ** (len(str(reach)) - 1))
    return next(step for step in (max(1, size // 5), max(1, size // 2), size, 2 * size) if reach / step <= 5.5)
