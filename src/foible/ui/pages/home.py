"""The front door: what can be asked, and the latest runs."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foible.ui.pages.listing import row
from foible.ui.questions import ALL
from foible.ui.render import bench, page

LATEST = 4


def home(request: Request) -> Response:
    """The questions first."""
    shared = bench(request)
    names = shared.shelf.names()
    rows = [row(shared, name) for name in names[:LATEST]]
    return page("home", here="ask", questions=ALL, rows=rows, more=len(names) if len(names) > LATEST else 0)


routes = [Route("/", home)]
