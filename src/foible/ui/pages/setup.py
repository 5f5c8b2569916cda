"""Setting up a run: what to test, with what, how hard; what it will cost; what is wrong with it."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import tomli_w
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from foible.campaign.estimate import most_evaluations
from foible.campaign.spec import load_recipe
from foible.classifiers.adapting.settings import SPOKEN
from foible.classifiers.variants import variant_kinds
from foible.errors import RecipeError
from foible.types import RIVAL
from foible.ui.again import fields_again
from foible.ui.command import as_table, diff_words
from foible.ui.form import SetUp, fields_of
from foible.ui.live import duration
from foible.ui.questions import CHANGES, SEARCHED, Question, question
from foible.ui.reading import UPLOADED, VARIANT, read_form, with_first_choices
from foible.ui.render import bench, html, page, session, short_body, tab
from foible.ui.studies import Study, read_study
from foible.ui.uploads import KINDS, describes_itself, keep_with, models_of

LARGEST_FORM = 200_000  # bytes, as sent: room for the names of a thousand classes


def setup(request: Request) -> Response:
    """The form of a question, filled in from a recipe, from an earlier run or from the address."""
    shared = bench(request)
    offers = shared.offers
    given = {k: v for k, v in request.query_params.items() if k in offers.menu.defaults}
    asked = question(given.get("question", offers.menu.defaults["question"]), SEARCHED)
    name = request.query_params.get("recipe", "")
    if name:
        if name not in offers.recipes:
            raise RecipeError(f"no recipe '{name[:80]}'", "see the list on the set-up page")
        given = fields_of(load_recipe(name), offers.menu) | given
    if again := request.query_params.get("again"):
        given = _again(request, again) | given
    chosen = _read(request, with_first_choices(given, offers))
    return page(
        "setup",
        here="ask",
        offers=offers,
        menu=offers.menu,
        variants=variant_kinds(),
        recipes=offers.recipe_groups,
        recipe_name=name,
        more=_changed(chosen, FIRST) or bool(name or request.query_params.get("again")),
        deep=_changed(chosen, FIRST | MORE),
        uploads=models_of(session(request)),
        kinds=KINDS,
        largest=shared.largest_upload,
        describes_itself=describes_itself,
        said=any(chosen.fields[key] for key in SPOKEN),
        **_panel(request, chosen, asked),
    )


def _again(request: Request, name: str) -> dict[str, str]:
    """The form filled in from an earlier run; a model of the visitor's own has to be chosen again."""
    shared = bench(request)
    with shared.shelf.open(name) as run:
        facts, study = dict(run.manifest.recipe), read_study(run.layout)
        written = run.layout.folder / "recipe.toml"
        if written.is_file():  # what was said, without what a method has suggested since
            with contextlib.suppress(RecipeError, ValueError, OSError):
                facts = load_recipe(tomllib.loads(written.read_text(encoding="utf-8"))).model_dump(exclude_unset=True)
    return fields_again(facts, shared.offers, study is not None and study.question == CHANGES.key)


async def preview(request: Request) -> Response:
    """What the form stands for: problems, cost, recipe and command; asked for at every change."""
    fields = await _form(request)
    chosen = _read(request, fields)
    panel = _panel(request, chosen, question(fields.get("question", "failures"), SEARCHED))
    return JSONResponse({"html": html("panel", **panel), "ready": chosen.recipe is not None})


async def probe(request: Request) -> Response:
    """Load the models, look at them on real images, and say in words what was seen; in a process of its own."""
    chosen = _read(request, await _form(request))
    if chosen.recipe is None:
        return JSONResponse({"html": html("probe", probe=None), "fine": False})
    shared = bench(request)
    result = shared.workshop.known_probe(chosen.recipe)
    if result is None:
        result = await shared.probing.look(chosen.recipe, tab(request), request.is_disconnected)
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
    layout = shared.shelf.layout(name)
    tables = {"classifier": recipe["classifier"], "rival": recipe.get("classifiers", {}).get(RIVAL)}
    for part, table in tables.items():
        if chosen.fields[part].startswith(UPLOADED):
            kept = keep_with(session(request).upload(chosen.fields[part].removeprefix(UPLOADED)), layout)
            tables[part] = as_table(table) | {"use": str(kept)}
    recipe["classifier"] = tables["classifier"]
    if tables["rival"] is None:
        shared.jobs.start(name, recipe)
    else:
        recipe["classifiers"] = {**recipe["classifiers"], RIVAL: tables["rival"]}
        models = (as_table(recipe["classifier"])["use"], chosen.fields["rival"].removeprefix(VARIANT))
        title = " and ".join(Path(str(m)).stem if m not in variant_kinds() else m for m in models)
        words = tuple(diff_words(recipe, str(layout.folder)))
        shared.jobs.ask(name, Study(CHANGES.key, f"Differences of {title}", recipe["domain"], models[0], words))
    return RedirectResponse(f"/runs/{name}", status_code=303)


def recipe_file(request: Request) -> Response:
    """The set-up of an address as a recipe file."""
    chosen = _must_be_right(_read(request, dict(request.query_params)))
    headers = {"Content-Disposition": f'attachment; filename="{chosen.facts["name"]}.toml"'}
    return Response(tomli_w.dumps(chosen.facts), media_type="application/toml", headers=headers)


FIRST = frozenset({"question", "domain", "classifier", "rival", "address", *SPOKEN})
MORE = frozenset({"generator", "attempts", "evaluations", "baseline", "seed", "name", "search"})


def _changed(chosen: SetUp, apart: frozenset[str]) -> bool:
    """Whether something else than this is set."""
    first = {**SEARCHED[chosen.fields["question"]].first, "generator": chosen.fields["generator"]}
    said = {
        k for k, v in chosen.changed.items() if first.get(k) != v and not (k.startswith("search.") and apart & MORE)
    }
    return bool(said - apart)


def _read(request: Request, fields: Mapping[str, str]) -> SetUp:
    shared = bench(request)
    return read_form(fields, session(request), shared.shelf, shared.offers)


def _must_be_right(chosen: SetUp) -> SetUp:
    if chosen.recipe is None:
        raise RecipeError(chosen.problems[0].message, chosen.problems[0].hint)
    return chosen


def _panel(request: Request, chosen: SetUp, asked: Question) -> dict[str, Any]:
    """Cost, recipe and command of a set-up."""
    if chosen.recipe is None:
        return {"question": asked, "setup": chosen, "cost": "", "most": 0, "recipe": "", "probe": None}
    recipe = chosen.recipe
    most = most_evaluations(recipe.attempts, recipe.baseline.attempts, recipe.budget.evaluations)
    known = bench(request).workshop.known_probe(recipe)
    cost = (
        f"About {duration(most / known.rate + 5)} if no search ends early and nothing else runs"
        if known and known.rate
        else ""
    )
    shown = {"question": asked, "setup": chosen}
    return {**shown, "cost": cost, "most": most, "recipe": tomli_w.dumps(chosen.facts), "probe": known}


async def _form(request: Request) -> dict[str, str]:
    body, known = await short_body(request, LARGEST_FORM), bench(request).offers.menu.defaults
    return {k: v for k, v in parse_qsl(body.decode(errors="replace")) if k in known}


routes = [
    Route("/setup", setup),
    Route("/setup/preview", preview, methods=["POST"]),
    Route("/setup/probe", probe, methods=["POST"]),
    Route("/setup/recipe.toml", recipe_file),
    Route("/runs", start, methods=["POST"]),
]
