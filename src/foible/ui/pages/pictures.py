"""Sample images of domains and generators."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foible.errors import StoreError
from foible.ui.render import bench, picture


def domain(request: Request) -> Response:
    """Real images of a domain, one per class."""
    name = request.path_params["name"]
    chosen = bench(request).offers.domain(name)
    if chosen is None:
        raise StoreError(f"no domain is called '{name[:80]}'")
    return picture(bench(request).workshop.domain_sheet(chosen))


def generator(request: Request) -> Response:
    """The contact sheet of a generator."""
    name, offers = request.path_params["name"], bench(request).offers
    chosen = offers.generator(name)
    about = offers.domain(chosen.domain) if chosen else None
    if chosen is None or about is None:
        raise StoreError(f"no generator is called '{name[:80]}'")
    return picture(bench(request).workshop.generator_sheet(chosen, about))


routes = [Route("/pictures/domain/{name}.png", domain), Route("/pictures/generator/{name}.png", generator)]
