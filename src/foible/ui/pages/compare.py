"""Runs side by side: the statistics of the published tables, the curves, and paired tests where they are allowed."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foible.errors import FoibleError
from foible.report import Summary
from foible.report.comparison import Comparison, compare_sides
from foible.report.curve import chart
from foible.report.sides import Side, sharing, sides, why_not
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
    def settings(self) -> str:
        """What its recipe says of its search beyond the name."""
        said = {k: v for k, v in self.summary.facts.recipe["search"].items() if k != "use"}
        return ", ".join(f"{k} {v}" for k, v in said.items())

    @property
    def asked_people(self) -> bool:
        """Whether people have said what they see in its findings."""
        return self.summary.search.stage("valid_by_people") is not None


@dataclass(frozen=True)
class Refusal:
    """Two sides that cannot be compared in pairs, and why."""

    first: str
    second: str
    reasons: list[str]


def compare(request: Request) -> Response:
    """The runs that the address names."""
    shelf = bench(request).shelf
    names = [n for n in shelf.names() if shelf.layout(n).database.is_file()]
    wanted = [n for n in dict.fromkeys(request.query_params.getlist("run")) if n in names][:MOST]
    columns: list[Column] = []
    runs: list[Run] = []
    problems: list[str] = []
    with ExitStack() as stack:
        for name in wanted:
            try:
                run = stack.enter_context(shelf.open(name))
                columns.append(Column(name, summary_of(run, name), list(run.outcomes())))
                runs.append(run)
            except FoibleError as error:
                problems.append(error.message)
        groups = sharing(sides(runs, [c.name for c in columns]))
        comparisons = _comparisons(groups)
        refusals = _refusals(groups)
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
        comparisons=comparisons,
        refusals=refusals,
    )


def _comparisons(groups: list[list[Side]]) -> list[Comparison]:
    return [compare_sides(group) for group in groups if len(group) > 1]


def _refusals(groups: list[list[Side]]) -> list[Refusal]:
    """Why each group stands apart from the first one."""
    return [Refusal(groups[0][0].name, g[0].name, why_not(groups[0][0], g[0])) for g in groups[1:]]


routes = [Route("/compare", compare)]
