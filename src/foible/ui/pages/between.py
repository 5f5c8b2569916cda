"""What lies between any two images of a run, and where the images on the border of two classes lie among real ones."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foible.borders.activation_map import activation_map
from foible.borders.ambiguous import class_pair
from foible.borders.parts import map_svg, strip_html
from foible.borders.strip import real_image, strip
from foible.campaign import Campaign
from foible.errors import RecipeError
from foible.records import Key
from foible.store import Run
from foible.types import Images
from foible.ui.render import bench, page
from foible.ui.workshop import Workshop

LONGEST = 200  # letters of a name


def between(request: Request) -> Response:
    """The page: a form for two images and one for two classes, and what was asked for."""
    shared, name = bench(request), request.path_params["name"]
    asked = {key: request.query_params.get(key, "").strip() for key in ("first", "second", "one", "other")}
    if max(map(len, asked.values())) > LONGEST:
        raise RecipeError("a name is too long", "write the number of a failure, or a class and a number")
    with shared.shelf.open(name) as run:
        return page(
            "between",
            here="runs",
            tab="overview",
            name=name,
            title=run.manifest.recipe["title"] or name,
            classes=run.classes,
            asked=asked,
            strip=_strip(shared.workshop, run, asked["first"], asked["second"]),
            map=_map(shared.workshop, run, asked["one"], asked["other"]),
        )


def _strip(workshop: Workshop, run: Run, first: str, second: str) -> str:
    if not (first and second):
        return ""

    def draw(campaign: Campaign) -> str:
        import torch

        ends = torch.stack([_image(run, campaign, name) for name in (first, second)])
        return strip_html(strip(campaign.generator, campaign.classifier, ends.to(campaign.device)), run.classes)

    return workshop.drawn(run, ("strip", first, second), draw)


def _image(run: Run, campaign: Campaign, name: str) -> Images:
    """A failure by its number, or a real image by class and number. A file of this machine is never looked for."""
    if ":" in name:
        return real_image(name, campaign.domain, campaign.data)
    return run.image(run.finding(Key.read(name)).image)


def _map(workshop: Workshop, run: Run, one: str, other: str) -> str:
    if not (one and other):
        return ""
    pair = class_pair((one, other), run.classes)
    return workshop.drawn(
        run, ("map", *pair), lambda campaign: map_svg(activation_map(run, campaign, pair), run.classes)
    )


routes = [Route("/runs/{name}/between", between)]
