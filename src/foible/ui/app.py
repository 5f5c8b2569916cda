"""The workbench as a web application: routes, what the pages share, and how errors look."""

from __future__ import annotations

import importlib
import threading
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from foible.errors import FoibleError, StoreError
from foible.ui.discretion import Discretion
from foible.ui.guard import Guard
from foible.ui.jobs import Jobs
from foible.ui.offers import make_offers
from foible.ui.pages import (
    ask,
    between,
    browse,
    compare,
    export,
    finding,
    home,
    login,
    models,
    people,
    pictures,
    runs,
    setup,
    study,
    watch,
)
from foible.ui.render import HERE, Bench, bench, page
from foible.ui.sessions import Sessions
from foible.ui.shelf import Shelf
from foible.ui.workshop import Workshop

SETTLED = 3.0  # seconds after which the first pages are drawn
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True)
class Settings:
    """How a workbench is opened."""

    runs: Path
    host: str = "127.0.0.1"
    password: str | None = None
    largest_upload: int = 1_000_000_000
    share: bool = False
    generators: tuple[Path, ...] = ()
    domains: tuple[str, ...] = ()
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        if self.password is not None and len(self.password) < 8:
            raise FoibleError("the password is shorter than 8 characters", "choose a longer one")
        if self.password is None and (self.share or self.host not in LOOPBACK):
            what = "a public link" if self.share else f"listening on {self.host}"
            raise FoibleError(
                f"{what} lets others start programs on this machine: it needs a password",
                "set FOIBLE_PASSWORD or --password, or leave the option out to stay on this machine",
            )


def create_app(settings: Settings) -> Starlette:
    """The application over one runs folder."""
    offers = make_offers(settings.generators, settings.domains, dict(settings.parts))
    shelf, sessions = Shelf(settings.runs), Sessions(settings.password)
    rooms = (
        home,
        runs,
        setup,
        models,
        ask,
        study,
        watch,
        browse,
        finding,
        between,
        compare,
        people,
        export,
        login,
        pictures,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette):  # type: ignore[no-untyped-def]
        warm = threading.Timer(SETTLED, importlib.import_module, ["scipy.stats"])  # slow to import: nobody waits for it
        warm.daemon = True
        warm.start()
        yield
        warm.cancel()
        app.state.bench.probing.close()
        sessions.close()

    app = Starlette(
        routes=[*(r for room in rooms for r in room.routes), Mount("/static", StaticFiles(directory=HERE / "static"))],
        middleware=[
            Middleware(
                Guard,
                sessions=sessions,
                hosts=None if settings.password else LOOPBACK,
            )
        ],
        exception_handlers={FoibleError: _explained, HTTPException: _not_found, Exception: _unexpected},
        lifespan=lifespan,
    )
    discreet = Discretion.about(sessions.folder, settings.runs)
    app.state.bench = Bench(
        shelf, Jobs(shelf, discreet), sessions, Workshop(), offers, settings.largest_upload, discreet=discreet
    )
    return app


def _explained(request: Request, error: Exception) -> Response:
    """An error that the user can put right, as a page; as JSON for scripts."""
    assert isinstance(error, FoibleError)
    status = 404 if isinstance(error, StoreError) else 400
    discreet = bench(request).discreet
    said = {"message": discreet(error.message), "hint": discreet(error.hint)}
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse(said, status_code=status)
    return page("error", status, title="This did not work", **said)


def _unexpected(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """A defect: the visitor learns that it is one, the terminal of whoever started the workbench shows where."""
    return page(
        "error", 500, title="This should not have happened", message=f"unexpected {type(error).__name__}", hint=""
    )


def _not_found(request: Request, error: Exception) -> Response:  # noqa: ARG001
    assert isinstance(error, HTTPException)
    return page("error", error.status_code, title="There is nothing here", message=error.detail, hint="")
