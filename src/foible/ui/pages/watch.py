"""A run while it is going and afterwards: progress, funnel, failures as they appear, origins and their scores."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from foible.report import Summary, summarise
from foible.report.parts import parts_of
from foible.report.wording import short_name
from foible.store import Run
from foible.store.answers import read_answers
from foible.store.selection import counts, is_judged
from foible.types import Arm
from foible.ui.glance import settings_of, tally
from foible.ui.live import live
from foible.ui.memos import read_memo
from foible.ui.pages.cards import card
from foible.ui.render import bench, html, page
from foible.ui.scores import points_now, scores
from foible.ui.studies import read_study

LATEST = 8
REMEMBERED = 50  # summaries
_summaries: OrderedDict[str, tuple[object, Summary]] = OrderedDict()


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
    while len(_summaries) > REMEMBERED:
        _summaries.popitem(last=False)
    return made


def parts(request: Request) -> Response:
    """What other rooms have to show of a run, asked for when its own page is there."""
    with bench(request).shelf.open(request.path_params["name"]) as run:
        return HTMLResponse(html("report_parts", drawn=parts_of(run)))


def others_of(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The parts of a recipe by name, for the table of settings."""
    shown = [
        (part, short_name(recipe[part]["use"])) for part in ("classifier", "generator", "search", "objective", "oracle")
    ]
    shown += [(role, short_name(part["use"])) for role, part in recipe["classifiers"].items()]
    judges = ", ".join(short_name(v["use"]) for v in recipe["validators"]) or "nobody"
    return [
        *shown,
        ("judged by", judges),
        ("baseline", f"{recipe['baseline']['use']}, {recipe['baseline']['attempts']:,}"),
    ]


def _values(request: Request) -> dict[str, Any]:
    shared, name = bench(request), request.path_params["name"]
    if not shared.shelf.existing(name).database.is_file():
        return {"name": name, "title": name, "now": live(shared.jobs, name, None), "summary": None}
    with shared.shelf.open(name) as run:
        summary, now = summary_of(run, name), live(shared.jobs, name, run)
        seen = shared.history.add((name, run.manifest.created), points_now(now.origins))
        lines, answers = run.index(), read_answers(run.layout)
        latest = [
            (card(run, f.key), counts(f, answers) if is_judged(f, answers) else None) for f in lines[-LATEST:][::-1]
        ]
        memo = read_memo(run.layout)
        return {
            "name": name,
            "title": memo.title or summary.facts.title,
            "notes": memo.notes,
            "now": now,
            "tally": tally(lines, answers),
            "photo": run.manifest.shape[0] == 3,
            "created": run.manifest.created,
            "seconds": run.seconds,
            "settings": settings_of(run.manifest.recipe),
            "others": others_of(run.manifest.recipe),
            "studied": shared.jobs.log(name) if read_study(run.layout) and not now.going else "",
            "summary": summary,
            "classes": run.classes,
            "cards": latest,
            "scores": scores(now.origins, seen, summary.facts.budget_evaluations, now.goal),
        }


routes = [
    Route("/runs/{name}", watch),
    Route("/runs/{name}/live", part),
    Route("/runs/{name}/parts", parts),
    Route("/runs/{name}/stop", stop, methods=["POST"]),
    Route("/runs/{name}/go-on", go_on, methods=["POST"]),
]
