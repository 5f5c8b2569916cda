"""Sample images of domains and generators."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foible.errors import StoreError
from foible.ui.offers import offers
from foible.ui.render import bench, picture


def domain(request: Request) -> Response:
    """Real images of a domain, one per class."""
    name = request.path_params["name"]
    if name not in {d.name for d in offers().domains}:
        raise StoreError(f"no domain is called '{name[:80]}'")
    return picture(bench(request).workshop.domain_sheet(name))


def generator(request: Request) -> Response:
    """The contact sheet of a generator."""
    name = request.path_params["name"]
    if name not in {g.name for g in offers().generators}:
        raise StoreError(f"no generator is called '{name[:80]}'")
    return picture(bench(request).workshop.generator_sheet(name))


routes = [Route("/pictures/domain/{name}.png", domain), Route("/pictures/generator/{name}.png", generator)]
