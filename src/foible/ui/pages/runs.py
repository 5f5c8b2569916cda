"""All runs: searched, page by page, each with what can be done with it."""

from __future__ import annotations

import math
from urllib.parse import parse_qs, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from foible.report.wording import UNKNOWN
from foible.ui.live import GOING
from foible.ui.memos import read_memo, write_memo
from foible.ui.pages.listing import row
from foible.ui.render import bench, page, short_body

PAGE = 25
STATES = ("running", "waiting", "complete", "interrupted", "out of time", "broken off", "failed", "damaged")


def runs(request: Request) -> Response:
    """The runs that fit what is searched for, the latest first."""
    shared, query = bench(request), request.query_params
    q, state = query.get("q", "")[:200], query.get("state", "")
    names = shared.shelf.names()
    if q or state in STATES:
        rows = [r for r in (row(shared, name) for name in names) if r.fits(q) and state in {"", r.state}]
    else:
        rows, state = [], ""
    fitting = len(rows) if q or state else len(names)
    pages = max(1, math.ceil(fitting / PAGE))
    text = query.get("page", "1")
    number = min(max(1, int(text)), pages) if text.isascii() and text.isdecimal() and len(text) < 6 else 1
    first = (number - 1) * PAGE
    shown = rows[first : first + PAGE] if q or state else [row(shared, n) for n in names[first : first + PAGE]]
    return page(
        "runs",
        here="runs",
        rows=shown,
        total=len(names),
        pages=pages,
        number=number,
        q=q,
        state=state,
        states=STATES,
        query=urlencode({"q": q, "state": state}),
        going=sum(r.state in GOING and r.state != "waiting" for r in shown),
        waiting=sum(r.state == "waiting" for r in shown),
    )


def log(request: Request) -> Response:
    """What the process of a run has said."""
    shared, name = bench(request), request.path_params["name"]
    said = shared.jobs.log(name)
    title = read_memo(shared.shelf.existing(name)).title or name
    return page("log", here="runs", name=name, title=title, said=said, unknown=UNKNOWN)


async def memo(request: Request) -> Response:
    """Note a title and notes of a run."""
    body = parse_qs((await short_body(request, 40_000)).decode(errors="replace"))
    shared, name = bench(request), request.path_params["name"]
    said = (body.get(key, [""])[0] for key in ("title", "notes"))
    await run_in_threadpool(write_memo, shared.shelf.existing(name), *said)
    return RedirectResponse("/runs", status_code=303)


def remove(request: Request) -> Response:
    """Delete a run."""
    bench(request).jobs.remove(request.path_params["name"])
    return RedirectResponse("/runs", status_code=303)


routes = [
    Route("/runs", runs, methods=["GET"]),
    Route("/runs/{name}/log", log),
    Route("/runs/{name}/memo", memo, methods=["POST"]),
    Route("/runs/{name}/remove", remove, methods=["POST"]),
]
