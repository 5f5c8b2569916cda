"""The chart of best scores: a dot where each search is, and the way it took as far as it was watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from foible.report.curve import Tick
from foible.ui.history import Point
from foible.ui.live import Origin

APART = 8.0  # per cent of the height that two labels need


@dataclass(frozen=True)
class Dot:
    """An origin in the chart, in percent of its box; `way` is a line in a box of 100 x 100, empty when not watched."""

    x: float
    y: float
    way: str
    origin: Origin


@dataclass(frozen=True)
class Scores:
    """Best score against evaluations; `goal` is the height below which there is a failure, where the objective knows one."""

    dots: tuple[Dot, ...]
    goal: float | None
    ticks: tuple[Tick, ...]
    heights: tuple[Tick, ...]

    @property
    def watched(self) -> bool:
        """Whether some way is known."""
        return any(dot.way for dot in self.dots)


def points_now(origins: Sequence[Origin]) -> list[tuple[int, Point]]:
    """Where the origins are that have a score."""
    return [(o.attempt, Point(o.evaluations, o.best)) for o in origins if o.best is not None]


def scores(
    origins: Sequence[Origin], seen: Mapping[int, Sequence[Point]], budget: int, goal: float | None = None
) -> Scores | None:
    """Place the origins and their ways in the chart; None before any has a score."""
    placed = [(o, (*seen.get(o.attempt, ()), Point(o.evaluations, o.best))) for o in origins if o.best is not None]
    if not placed:
        return None
    points = [point for _, way in placed for point in way]
    heights = [p.best for p in points] + ([] if goal is None else [goal])
    low = min(heights)
    high = max(low + 1e-6, *heights)
    top, span = high + 0.05 * (high - low), (high - low) * 1.1
    reach = _reach(max(p.evaluations for p in points), budget)

    def place(point: Point) -> tuple[float, float]:
        return 100 * point.evaluations / reach, 100 * (top - point.best) / span

    dots = [Dot(*place(way[-1]), _line([place(p) for p in way]), origin) for origin, way in placed]
    return Scores(
        tuple(dots), None if goal is None else 100 * (top - goal) / span, _ticks(reach), _heights(top, span, goal)
    )


def _heights(top: float, span: float, goal: float | None) -> tuple[Tick, ...]:
    """What stands beside the chart: where a failure begins, and both ends unless they would cover it."""
    line = None if goal is None else Tick(100 * (top - goal) / span, f"{goal:g}")
    ends = (Tick(0, f"{top:.1f}"), Tick(100, f"{top - span:.1f}"))
    clear = [end for end in ends if line is None or abs(end.place - line.place) > APART]
    return (*([line] if line else []), *clear)


def _line(places: Sequence[tuple[float, float]]) -> str:
    """Steps: a best score stays what it is until a better one is seen."""
    corners = [f"{x:.2f},{y:.2f}" for x, y in places[:1]]
    for (_, before), (x, y) in pairwise(places):
        corners += [f"{x:.2f},{before:.2f}", f"{x:.2f},{y:.2f}"]
    return " ".join(corners) if len(set(places)) > 1 else ""


def _reach(furthest: int, budget: int) -> int:
    """How far the chart goes: the budget, or a part of it while the searches are still near their beginning."""
    return next((budget // part for part in (16, 8, 4, 2) if furthest <= budget // part), max(budget, furthest))


def _ticks(reach: int, parts: Sequence[float] = (0, 0.25, 0.5, 0.75, 1)) -> tuple[Tick, ...]:
    return tuple(Tick(100 * p, f"{reach * p:,.0f}") for p in parts)
