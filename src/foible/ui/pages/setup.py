"""Setting up a run: what to test, with what, how hard; what it will cost; what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import tomli_w
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from foible.campaign.estimate import most_evaluations
from foible.campaign.spec import load_recipe
from foible.classifiers.adapting.settings import SPOKEN
from foible.errors import RecipeError
from foible.ui.command import as_table
from foible.ui.form import SetUp, fields_of
from foible.ui.live import duration
from foible.ui.reading import UPLOADED, read_form, with_first_choices
from foible.ui.render import bench, html, page, session, short_body
from foible.ui.uploads import KINDS, describes_itself, keep_with, receive

LARGEST_FORM = 200_000  # bytes, as sent: room for the names of a thousand classes


def setup(request: Request) -> Response:
    """The form, filled in from a recipe or from the address."""
    shared = bench(request)
    offers = shared.offers
    given = {k: v for k, v in request.query_params.items() if k in offers.menu.defaults}
    if name := request.query_params.get("recipe"):
        if name not in offers.recipes:
            raise RecipeError(f"no recipe '{name[:80]}'", "see the list on the set-up page")
        given = fields_of(load_recipe(name), offers.menu) | given
    chosen = _read(request, with_first_choices(given, offers))
    uploads = list(session(request).uploads.values())
    return page(
        "setup",
        here="setup",
        offers=offers,
        menu=offers.menu,
        more=_more(chosen),
        uploads=uploads,
        kinds=KINDS,
        largest=shared.largest_upload,
        describes_itself=describes_itself,
        said=any(chosen.fields[key] for key in SPOKEN),
        **_panel(request, chosen),
    )


async def preview(request: Request) -> Response:
    """What the form stands for: problems, cost, recipe and command; asked for at every change."""
    chosen = _read(request, await _form(request))
    return JSONResponse({"html": html("panel", **_panel(request, chosen)), "ready": chosen.recipe is not None})


async def probe(request: Request) -> Response:
    """Load the models, look at them on real images, and say in words what was seen; in a process of its own."""
    chosen = _read(request, await _form(request))
    if chosen.recipe is None:
        return JSONResponse({"html": html("probe", probe=None), "fine": False})
    shared = bench(request)
    result = shared.workshop.known_probe(chosen.recipe)
    if result is None:
        visitor = str(session(request).folder)
        result = await shared.probing.look(chosen.recipe, visitor, request.is_disconnected)
        if result is None:
            return JSONResponse({"html": html("probe", probe=None), "fine": False})
        said = (replace(n, message=shared.discreet(n.message), hint=shared.discreet(n.hint)) for n in result.lines)
        result = replace(result, lines=tuple(said))
        shared.workshop.remember_probe(chosen.recipe, result)
    return JSONResponse({"html": html("probe", probe=result), "fine": result.fine})


async def start(request: Request) -> Response:
    """Start the run that the form stands for, and show it."""
    fields, shared = await _form(request), bench(request)
    chosen = _must_be_right(_read(request, fields))
    recipe = chosen.facts
    name = recipe["name"] = shared.shelf.free_name(recipe["name"])
    if chosen.uploaded:
        upload = session(request).upload(chosen.fields["classifier"].removeprefix(UPLOADED))
        kept = keep_with(upload, shared.shelf.layout(name))
        recipe["classifier"] = as_table(recipe["classifier"]) | {"use": str(kept)}
    shared.jobs.start(name, recipe)
    return RedirectResponse(f"/runs/{name}", status_code=303)


def recipe_file(request: Request) -> Response:
    """The set-up of an address as a recipe file."""
    chosen = _must_be_right(_read(request, dict(request.query_params)))
    headers = {"Content-Disposition": f'attachment; filename="{chosen.facts["name"]}.toml"'}
    return Response(tomli_w.dumps(chosen.facts), media_type="application/toml", headers=headers)


async def upload(request: Request) -> Response:
    """Take a classifier file for this session."""
    bench(request).sessions.make_room(session(request))
    taken = await receive(request, session(request), bench(request).largest_upload)
    own = not describes_itself(taken.path)
    return JSONResponse({"key": f"{UPLOADED}{taken.key}", "name": taken.name, "own": own})


def _more(chosen: SetUp) -> bool:
    """Whether something is set that stands under "more"."""
    first = {"domain", "generator", "classifier", "address", "attempts", "evaluations", "search", *SPOKEN}
    return any(key not in first and not key.startswith("search.") for key in chosen.changed)


def _read(request: Request, fields: Mapping[str, str]) -> SetUp:
    shared = bench(request)
    return read_form(fields, session(request), shared.shelf, shared.offers)


def _must_be_right(chosen: SetUp) -> SetUp:
    if chosen.recipe is None:
        raise RecipeError(chosen.problems[0].message, chosen.problems[0].hint)
    return chosen


def _panel(request: Request, chosen: SetUp) -> dict[str, Any]:
    """Cost, recipe and command of a set-up."""
    if chosen.recipe is None:
        return {"setup": chosen, "cost": "", "most": 0, "recipe": "", "probe": None}
    recipe = chosen.recipe
    most = most_evaluations(recipe.attempts, recipe.baseline.attempts, recipe.budget.evaluations)
    known = bench(request).workshop.known_probe(recipe)
    cost = (
        f"About {duration(most / known.rate + 5)} if no search ends early and nothing else runs"
        if known and known.rate
        else ""
    )
    return {"setup": chosen, "cost": cost, "most": most, "recipe": tomli_w.dumps(chosen.facts), "probe": known}


async def _form(request: Request) -> dict[str, str]:
    body, known = await short_body(request, LARGEST_FORM), bench(request).offers.menu.defaults
    return {k: v for k, v in parse_qsl(body.decode(errors="replace")) if k in known}


routes = [
    Route("/setup", setup),
    Route("/setup/preview", preview, methods=["POST"]),
    Route("/setup/probe", probe, methods=["POST"]),
    Route("/setup/recipe.toml", recipe_file),
    Route("/runs", start, methods=["POST"]),
    Route("/uploads", upload, methods=["POST"]),
]
