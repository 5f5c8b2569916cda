"""Runs side by side: the statistics of the published tables, the curves, and a paired test where it is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foible.errors import FoibleError
from foible.metrics import Paired, paired
from foible.report import Summary
from foible.report.curve import chart
from foible.store import Run
from foible.types import Outcome
from foible.ui.pages.watch import summary_of
from foible.ui.render import bench, page

MOST = 6  # runs side by side


@dataclass(frozen=True)
class Column:
    """A run in the comparison."""

    name: str
    summary: Summary
    outcomes: list[Outcome]

    @property
    def extent(self) -> str:
        """How far one step of its search goes."""
        return str(self.summary.facts.recipe["search"].get("extent", "high"))

    @property
    def asked_people(self) -> bool:
        """Whether people have said what they see in its findings."""
        return self.summary.search.stage("valid_by_people") is not None

    def same_origins(self, other: Column) -> bool:
        """Whether attempt k starts from the same image in both runs."""
        keys = ("domain", "seed", "data", "generator")
        return all(getattr(self.summary.facts, k) == getattr(other.summary.facts, k) for k in keys)


@dataclass(frozen=True)
class Duel:
    """Two runs on the origins they share."""

    first: str
    second: str
    result: Paired


def compare(request: Request) -> Response:
    """The runs that the address names."""
    shelf = bench(request).shelf
    names = [n for n in shelf.names() if shelf.layout(n).database.is_file()]
    wanted = [n for n in dict.fromkeys(request.query_params.getlist("run")) if n in names][:MOST]
    columns: list[Column] = []
    problems: list[str] = []
    for name in wanted:
        try:
            with shelf.open(name) as run:
                columns.append(_column(run, name))
        except FoibleError as error:
            problems.append(error.message)
    budget = max((c.summary.facts.budget_evaluations for c in columns), default=1)
    return page(
        "compare",
        here="compare",
        names=names,
        wanted=wanted,
        most=MOST,
        columns=columns,
        problems=problems,
        chart=chart([(c.name, c.outcomes) for c in columns], budget),
        duels=[Duel(a.name, b.name, _duel(a, b)) for a, b in combinations(columns, 2) if a.same_origins(b)],
    )


def _column(run: Run, name: str) -> Column:
    return Column(name, summary_of(run, name), list(run.outcomes()))


def _duel(first: Column, second: Column) -> Paired:
    return paired(first.outcomes, second.outcomes)


routes = [Route("/compare", compare)]
