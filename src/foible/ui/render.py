"""Pages from templates. Everything that comes from users or files is escaped."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from foible.errors import FoibleError
from foible.images import png
from foible.report import wording
from foible.ui.attempts import Attempts
from foible.ui.discretion import Discretion
from foible.ui.glance import Glances, day
from foible.ui.guard import LOCKED
from foible.ui.history import History
from foible.ui.jobs import Jobs
from foible.ui.live import duration
from foible.ui.offers import Offers
from foible.ui.probing import Probing
from foible.ui.sessions import Session, Sessions
from foible.ui.shelf import Shelf
from foible.ui.workshop import Workshop

HERE = Path(__file__).parent
SURVEY = HERE.parent / "survey"  # people are asked in the same way here and there


@dataclass(frozen=True)
class Bench:
    """Everything the pages share."""

    shelf: Shelf
    jobs: Jobs
    sessions: Sessions
    workshop: Workshop
    offers: Offers
    largest_upload: int
    history: History = field(default_factory=History)
    glances: Glances = field(default_factory=Glances)
    probing: Probing = field(default_factory=Probing)
    attempts: Attempts = field(default_factory=Attempts)
    discreet: Discretion = field(default_factory=Discretion.about)


def bench(request: Request) -> Bench:
    """What the pages share, from a request."""
    shared: Bench = request.app.state.bench
    return shared


def session(request: Request) -> Session:
    """The session a request belongs to."""
    mine: Session = request.state.session
    return mine


def tab(request: Request) -> tuple[str, str]:
    """The tab of a browser that a request comes from: what one tab looks at, another does not interrupt."""
    return str(session(request).folder), request.query_params.get("tab", "")[:16]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader([HERE / "templates", SURVEY]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.globals |= {"words": wording, "duration": duration, "day": day, "locked": LOCKED.get}
    return environment


def html(template: str, **values: Any) -> str:
    """A template filled in."""
    return _environment().get_template(f"{template}.html.jinja").render(**values)


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page."""
    return HTMLResponse(html(template, **values), status_code=status)


def picture(pixels: NDArray[np.uint8]) -> Response:
    """Pixels as a PNG that a browser may keep for an hour."""
    return Response(png(pixels), media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})


async def short_body(request: Request, most: int) -> bytes:
    """The body of a request, refused as soon as it is longer than it can mean to be."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise FoibleError("the form is too long", "send less")
    return body
