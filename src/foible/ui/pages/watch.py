"""A run while it is going and afterwards: progress, funnel, failures as they appear, origins and their scores."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from foible.report import Summary, summarise
from foible.store import Run
from foible.types import Arm
from foible.ui.live import live
from foible.ui.pages.cards import card
from foible.ui.render import bench, html, page
from foible.ui.scores import points_now, scores

LATEST = 8
_summaries: dict[str, tuple[object, Summary]] = {}


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
        seen = shared.history.add((name, run.manifest.created), points_now(now.origins))
        latest = [card(run, line.key) for line in run.index()[-LATEST:]][::-1]
        return {
            "name": name,
            "title": summary.facts.title,
            "now": now,
            "summary": summary,
            "classes": run.classes,
            "cards": latest,
            "scores": scores(now.origins, seen, summary.facts.budget_evaluations, now.goal),
        }


routes = [
    Route("/runs/{name}", watch),
    Route("/runs/{name}/live", part),
    Route("/runs/{name}/stop", stop, methods=["POST"]),
    Route("/runs/{name}/go-on", go_on, methods=["POST"]),
]
