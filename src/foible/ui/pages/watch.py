"""A run while it is going and afterwards: progress, funnel, failures as they appear, origins and their margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from foible.report import Summary, summarise
from foible.report.curve import Tick
from foible.store import Run
from foible.types import Arm
from foible.ui.live import Live, Origin, live
from foible.ui.pages.cards import card
from foible.ui.render import bench, html, page

LATEST = 8
_summaries: dict[str, tuple[object, Summary]] = {}


@dataclass(frozen=True)
class Dot:
    """An origin in the chart of margins, in percent of its box."""

    x: float
    y: float
    origin: Origin


@dataclass(frozen=True)
class Margins:
    """Best margin against evaluations, one dot per origin; `zero` is the height below which the classifier fails."""

    dots: tuple[Dot, ...]
    zero: float
    ticks: tuple[Tick, ...]
    top: float


def watch(request: Request) -> Response:
    """The page of a run."""
    return page("watch", here="runs", tab="overview", **_values(request))


def part(request: Request) -> Response:
    """What changes while a run is going; asked for every second."""
    return HTMLResponse(html("live", **_values(request)))


def stop(request: Request) -> Response:
    """Stop a run; it can go on later."""
    name = request.path_params["name"]
    bench(request).jobs.stop(name)
    return RedirectResponse(f"/runs/{name}", status_code=303)


def go_on(request: Request) -> Response:
    """Take up a run where it stopped."""
    name = request.path_params["name"]
    bench(request).jobs.go_on(name)
    return RedirectResponse(f"/runs/{name}", status_code=303)


def summary_of(run: Run, name: str) -> Summary:
    """The summary of a run, made again only when something has ended since."""
    answered = run.layout.answers.stat().st_mtime_ns if run.layout.answers.is_file() else None
    key = (run.manifest.created, run.state, answered, *(tuple(run.counts(arm).values()) for arm in Arm))
    known = _summaries.get(name)
    if known is not None and known[0] == key:
        return known[1]
    made = summarise(run)
    _summaries[name] = (key, made)
    return made


def _values(request: Request) -> dict[str, Any]:
    shared, name = bench(request), request.path_params["name"]
    if not shared.shelf.existing(name).database.is_file():
        return {"name": name, "title": name, "now": live(shared.jobs, name, None), "summary": None}
    with shared.shelf.open(name) as run:
        summary, now = summary_of(run, name), live(shared.jobs, name, run)
        latest = [card(run, line.attempt) for line in run.index()[-LATEST:]][::-1]
        return {
            "name": name,
            "title": summary.facts.title,
            "now": now,
            "summary": summary,
            "classes": run.classes,
            "cards": latest,
            "margins": margins(now, summary.facts.budget_evaluations),
        }


def margins(now: Live, budget: int) -> Margins | None:
    """Place the origins in the chart."""
    placed = [o for o in now.origins if o.best is not None]
    if not placed:
        return None
    scores = [o.best for o in placed if o.best is not None]
    high, low = max(1e-6, *scores), min(0.0, *scores)
    span, reach = (high - low) * 1.1, max(budget, *(o.evaluations for o in placed))
    top = high + 0.05 * (high - low)
    dots = tuple(Dot(100 * o.evaluations / reach, 100 * (top - (o.best or 0.0)) / span, o) for o in placed)
    return Margins(dots, 100 * top / span, _ticks(reach), top)


def _ticks(reach: int, parts: Sequence[float] = (0, 0.25, 0.5, 0.75, 1)) -> tuple[Tick, ...]:
    return tuple(Tick(100 * p, f"{reach * p:,.0f}") for p in parts)


routes = [
    Route("/runs/{name}", watch),
    Route("/runs/{name}/live", part),
    Route("/runs/{name}/stop", stop, methods=["POST"]),
    Route("/runs/{name}/go-on", go_on, methods=["POST"]),
]
