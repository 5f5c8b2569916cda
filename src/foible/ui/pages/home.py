"""The first page: all runs, or what to do when there is none."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foible.errors import FoibleError
from foible.report.gallery import Card, choose
from foible.report.wording import short_name
from foible.types import Status
from foible.ui.live import state_of
from foible.ui.pages.cards import card
from foible.ui.render import Bench, bench, page

SHOWN = 60  # runs on the page
PICTURES = 6


@dataclass(frozen=True)
class Row:
    """A run on the first page."""

    name: str
    title: str
    state: str
    what: str
    found: int
    searched: int
    cards: tuple[Card, ...] = ()


def home(request: Request) -> Response:
    """All runs, the latest first."""
    shared = bench(request)
    names = shared.shelf.names()
    return page("home", here="runs", rows=[_row(shared, n) for n in names[:SHOWN]], hidden=max(0, len(names) - SHOWN))


def _row(shared: Bench, name: str) -> Row:
    if not shared.shelf.layout(name).database.is_file():
        return Row(name, name, state_of(shared.jobs, name, None), "", 0, 0)
    try:
        with shared.shelf.open(name) as run:
            recipe, counts = run.manifest.recipe, run.counts()
            parts = (short_name(recipe[k]["use"]) for k in ("classifier", "generator"))
            chosen = choose([(f.key, f.label, f.predicted) for f in run.index()], PICTURES)
            return Row(
                name,
                recipe["title"] or name,
                state_of(shared.jobs, name, run),
                " against ".join(parts),
                counts[Status.FOUND],
                sum(counts.values()) - counts[Status.REJECTED] - counts[Status.REFUSED],
                tuple(card(run, key) for key, _, _ in chosen),
            )
    except FoibleError as error:
        return Row(name, name, "damaged", error.message, 0, 0)


routes = [Route("/", home)]
