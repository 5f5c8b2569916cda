"""How best scores came down, as pages saw it: a run's store has only the latest one of each origin under way.

Light and forgetful on purpose: some points per origin, the runs looked at last, gone with the workbench.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

RUNS = 8  # remembered
POINTS = 40  # of one origin; beyond that every second one is let go


class Point(NamedTuple):
    """The best score of an origin after so many evaluations."""

    evaluations: int
    best: float


class History:
    """What was seen of each run's origins, in order."""

    def __init__(self) -> None:
        self._runs: OrderedDict[Hashable, dict[int, list[Point]]] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, run: Hashable, now: Iterable[tuple[int, Point]]) -> Mapping[int, tuple[Point, ...]]:
        """Note where the origins of a run are now, given as (attempt, point), and tell where they have been."""
        with self._lock:
            seen = self._runs.setdefault(run, {})
            self._runs.move_to_end(run)
            while len(self._runs) > RUNS:
                self._runs.popitem(last=False)
            for attempt, point in now:
                points = seen.setdefault(attempt, [])
                if not points or point.evaluations > points[-1].evaluations:
                    points.append(point)
                if len(points) > POINTS:
                    points[:] = [*points[:-1:2], points[-1]]
            return {attempt: tuple(points) for attempt, points in seen.items()}
