"""Runs side by side: the statistics of the published tables, the curves, and paired tests where they are allowed."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foible.errors import FoibleError
from foible.records import Outcome
from foible.report import Summary
from foible.report.arms import when_found
from foible.report.comparison import Comparison, compare_sides
from foible.report.curve import chart
from foible.report.gallery import Card
from foible.report.sides import Side, sharing, sides, why_not
from foible.store import Run
from foible.store.answers import Answers, read_answers
from foible.store.reader import FindingLine
from foible.store.selection import counts, is_judged
from foible.ui.glance import APART, Tally, search_settings, tally
from foible.ui.live import WORDS
from foible.ui.pages.cards import card
from foible.ui.pages.watch import summary_of
from foible.ui.render import bench, page

MOST = 6  # runs side by side
PICTURED = 8  # starting images shown side by side


@dataclass(frozen=True)
class Column:
    """A run in the comparison."""

    name: str
    summary: Summary
    outcomes: list[Outcome]
    lines: list[FindingLine]
    answers: Answers

    @property
    def settings(self) -> str:
        """What its recipe says of its search beyond the name."""
        return ", ".join(search_settings(self.summary.facts.recipe))

    @property
    def tally(self) -> Tally:
        """How many of its failures count."""
        return tally(self.lines, self.answers)

    @property
    def asked_people(self) -> bool:
        """Whether people have said what they see in its findings."""
        return self.summary.search.stage("valid_by_people") is not None


@dataclass(frozen=True)
class Beside:
    """One starting image, and what each of some runs made of it: a failure's card, or how its search ended."""

    attempt: int
    label: int
    start: str | None
    cells: tuple[tuple[str, Card | None, bool | None, str], ...]


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
                lines, answers = run.index(), read_answers(run.layout)
                columns.append(Column(name, summary_of(run, name), list(run.outcomes()), lines, answers))
                runs.append(run)
            except FoibleError as error:
                problems.append(error.message)
        groups = sharing(sides(runs, [c.name for c in columns]))
        comparisons = _comparisons(groups)
        refusals = _refusals(groups)
        pictures = [_pictures(group) for group in groups if len(group) > 1]
        classes = runs[0].classes if runs else ()
        photo = bool(runs) and runs[0].manifest.shape[0] == 3
    budget = max((c.summary.facts.budget_evaluations for c in columns), default=1)
    return page(
        "compare",
        here="compare",
        names=names,
        wanted=wanted,
        most=MOST,
        columns=columns,
        problems=problems,
        chart=chart([(c.name, when_found(c.outcomes, c.lines)) for c in columns], budget),
        comparisons=comparisons,
        refusals=refusals,
        pictures=[beside for beside in pictures if beside],
        classes=classes,
        photo=photo,
    )


def _pictures(group: list[Side]) -> list[Beside]:
    """The same starting images side by side: those first from which most runs reached a failure that counts, or any."""
    found: dict[int, list[tuple[str, Card | None, bool | None, str]]] = {}
    named = [(side.name, run) for side in group for run in side.runs[:1]]
    lines = [_first_of_each(run) for _, run in named]
    ended = [{o.attempt: o for o in run.outcomes() if o.status not in APART} for _, run in named]
    shared = set.intersection(*(set(outcomes) for outcomes in ended))

    def rank(attempt: int) -> tuple[int, int, int]:
        reached = [one[attempt][1] for one in lines if attempt in one]
        return -sum(verdict is True for verdict in reached), -len(reached), attempt

    for attempt in sorted(shared, key=rank)[:PICTURED]:
        for (name, run), mine, outcomes in zip(named, lines, ended, strict=True):
            line, verdict = mine.get(attempt, (None, None))
            shown = card(run, line.key) if line else None
            found.setdefault(attempt, []).append((name, shown, verdict, WORDS[outcomes[attempt].status]))
    return [
        Beside(k, ended[0][k].label, next((c.origin for _, c, _, _ in cells if c and c.origin), None), tuple(cells))
        for k, cells in found.items()
        if any(shown for _, shown, _, _ in cells)
    ]


def _first_of_each(run: Run) -> dict[int, tuple[FindingLine, bool | None]]:
    """The failure shown of each attempt, one that counts if there is one, and whether it counts; None: not judged."""
    answers, best = read_answers(run.layout), dict[int, tuple[FindingLine, bool | None]]()
    for line in run.index():
        verdict = counts(line, answers) if is_judged(line, answers) else None
        if line.attempt not in best or (verdict and not best[line.attempt][1]):
            best[line.attempt] = (line, verdict)
    return best


def _comparisons(groups: list[list[Side]]) -> list[Comparison]:
    return [compare_sides(group) for group in groups if len(group) > 1]


def _refusals(groups: list[list[Side]]) -> list[Refusal]:
    """Why each group stands apart from the first one."""
    return [Refusal(groups[0][0].name, g[0].name, why_not(groups[0][0], g[0])) for g in groups[1:]]


routes = [Route("/compare", compare)]
