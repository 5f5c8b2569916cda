"""Two questions that need no search: what a test set never exercises, and which images count."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from foible.domains.sources import where_images_are
from foible.errors import RecipeError
from foible.parameters import components
from foible.store.export import safe
from foible.ui.form import SetUp
from foible.ui.offers import DomainChoice
from foible.ui.questions import COVERAGE, JUDGING, Question, question
from foible.ui.reading import UPLOADED, with_first_choices
from foible.ui.render import Bench, bench, page, session, short_body
from foible.ui.sessions import Session
from foible.ui.studies import PICTURES, Study, coverage_words, judging_words
from foible.ui.suites import KINDS as IMAGES
from foible.ui.suites import keep_images
from foible.ui.uploads import FOIBLE, describes_itself, images_of, keep_with, models_of
from foible.validators.fitted import judge_is_there

ASKED = {q.key: q for q in (COVERAGE, JUDGING)}
TESTS = ""  # the domain's own test images


def ask(request: Request) -> Response:
    """The form of a question."""
    shared, asked = bench(request), question(request.path_params["question"], ASKED)
    fields = with_first_choices(
        {k: v for k, v in request.query_params.items() if k in {"domain", "classifier"}}, shared.offers
    )
    mine = session(request)
    return page(
        "ask",
        here="ask",
        question=asked,
        offers=shared.offers,
        setup=SetUp(fields, fields),
        uploads=[u for u in models_of(mine) if describes_itself(u.path)],
        describes_itself=describes_itself,
        images=images_of(mine),
        kinds=(FOIBLE,),
        picture_kinds=IMAGES,
        largest=shared.largest_upload,
        criteria=components("coverage"),
        obstacles={d.name: why for d in shared.offers.domains if (why := obstacle(asked, d))},
    )


def obstacle(asked: Question, chosen: DomainChoice) -> str:
    """Why a question cannot be asked of a domain here; empty where it can."""
    if asked is JUDGING and not judge_is_there(chosen.domain):
        return "no judge for these images is installed"
    if asked is COVERAGE and where_images_are(chosen.domain).startswith("none"):
        return "its real images are not on this machine"
    return ""


async def begin(request: Request) -> Response:
    """Begin to answer it."""
    shared, asked = bench(request), question(request.path_params["question"], ASKED)
    body = parse_qs((await short_body(request, 20_000)).decode(errors="replace"))
    name = await run_in_threadpool(_begin, shared, session(request), asked, body)
    return RedirectResponse(f"/studies/{name}", status_code=303)


def _begin(shared: Bench, mine: Session, asked: Question, body: Mapping[str, list[str]]) -> str:
    said = {key: values[0] for key, values in body.items()}
    domain = shared.offers.domain(said.get("domain", ""))
    if domain is None:
        raise RecipeError(f"no domain is called '{said.get('domain', '')[:80]}'", "pick one of the list")
    if why := obstacle(asked, domain):
        raise RecipeError(f"this cannot be asked of '{domain.name}': {why}", "pick another one")
    suite = said.get("suite", TESTS)
    images = mine.upload(suite.removeprefix(UPLOADED)).path if suite else None
    if asked is JUDGING:
        return _judge(shared, domain, images)
    return _cover(shared, mine, domain, said.get("classifier", ""), images, body.get("criteria", []))


def _judge(shared: Bench, domain: DomainChoice, images: Path | None) -> str:
    if images is None:
        raise RecipeError("there are no images to judge", "choose a picture, an array or an archive of pictures")
    name = shared.shelf.free_name(safe(f"{images.stem}-judged")[-70:].strip("-._") or "judged")
    layout = shared.shelf.layout(name)
    kept = keep_images(images, layout.folder / PICTURES)
    words = tuple(judging_words(kept, domain.use, layout.folder))
    shared.jobs.ask(name, Study(JUDGING.key, f"Which of {images.name} count?", domain.use, "", words))
    return name


def _cover(
    shared: Bench, mine: Session, domain: DomainChoice, chosen: str, images: Path | None, criteria: list[str]
) -> str:
    known = {c.name for c in components("coverage") if not c.broken}
    if unknown := [c for c in criteria if c not in known]:
        raise RecipeError(f"no criterion is called '{unknown[0][:40]}'", "pick from the list")
    model = chosen
    if chosen.startswith(UPLOADED):
        model = mine.upload(chosen.removeprefix(UPLOADED)).path.stem
    elif chosen not in {c.name for c in shared.offers.classifiers if c.domain == domain.name}:
        raise RecipeError(f"'{chosen[:80]}' is not a classifier of '{domain.name}'", "pick one of the list")
    name = shared.shelf.free_name(safe(f"{model}-coverage")[-70:].strip("-._") or "coverage")
    layout = shared.shelf.layout(name)
    table: dict[str, Any] = {"use": chosen}
    if chosen.startswith(UPLOADED):
        table = {"use": str(keep_with(mine.upload(chosen.removeprefix(UPLOADED)), layout))}
    suite = keep_images(images, layout.folder / PICTURES) if images else None
    words = coverage_words(table, domain.use, suite, layout.folder)
    words += ["--criteria", ",".join(criteria)] if criteria else []
    what = images.name if images else "the test images"
    shared.jobs.ask(name, Study(COVERAGE.key, f"What {what} exercise", domain.use, model, tuple(words)))
    return name


routes = [Route("/ask/{question}", ask), Route("/ask/{question}", begin, methods=["POST"])]
