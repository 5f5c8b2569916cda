"""People look at failures and say what they see, without being told what is expected; here or on a page sent to them."""

from __future__ import annotations

import random
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from foible.errors import RecipeError
from foible.metrics import agreement, rate
from foible.records import Key
from foible.report.wording import of, plural
from foible.store import Run
from foible.store.answers import Answers, give_answer, person_name, read_answers, take_back
from foible.store.reader import FindingLine
from foible.survey import Survey, choices, collect, make_survey
from foible.survey.answer_file import LARGEST
from foible.survey.select import Order
from foible.ui.render import SURVEY, bench, page, short_body

ORDERS: dict[str, Order] = {"unsure": "unsure", "shuffled": "shuffled"}
MOST_IMAGES = 2000  # of one survey


def people(request: Request) -> Response:
    """The page; the images are fetched when the person has said who they are."""
    name = request.path_params["name"]
    with bench(request).shelf.open(name) as run:
        return page(
            "people",
            here="runs",
            tab="people",
            name=name,
            title=run.manifest.recipe["title"] or name,
            total=len(run.index()),
            people=len(read_answers(run.layout).by_person),
            choices=[vars(c) for c in choices(run.classes)],
            shape=run.manifest.shape,
            asks="class",
        )


def results(request: Request) -> Response:
    """What people said so far, for whoever has answered."""
    name = request.path_params["name"]
    with bench(request).shelf.open(name) as run:
        board = _board(run.index(), read_answers(run.layout))
        title = run.manifest.recipe["title"] or name
        return page("results", here="runs", tab="people", name=name, title=title, **board)


def questions(request: Request) -> Response:
    """All images in one shuffled order, under names that say nothing of their class, and what a person said of some."""
    person = person_name(request.query_params.get("person", ""))
    name = request.path_params["name"]
    with bench(request).shelf.open(name) as run:
        keys = sorted((line.key for line in run.index()), key=_turn)
        mine = read_answers(run.layout).by_person.get(person, {})
        address = f"/runs/{quote(name)}/findings"
        items = [{"item": str(key), "picture": f"{address}/{key}/failure.png"} for key in keys]
        answers = [{"item": str(key), "answer": str(mine[key])} for key in keys if key in mine]
        return JSONResponse({"items": items, "answers": answers})


async def answer(request: Request) -> Response:
    """Note what a person sees, or take it back."""
    body = parse_qs((await short_body(request, 2000)).decode(errors="replace"))
    said = {key: values[0] for key, values in body.items()}
    await run_in_threadpool(_answer, request, said)
    return JSONResponse({})


def _answer(request: Request, said: dict[str, str]) -> None:
    person = person_name(said.get("person", ""))
    with bench(request).shelf.open(request.path_params["name"]) as run:
        key = run.finding(Key.read(said.get("finding", ""))).key
        if said.get("undone"):
            take_back(run.layout, person, key)
        elif said.get("answer", "") not in {str(c.answer) for c in choices(run.classes)}:
            raise RecipeError("this is not one of the answers", "reload the page")
        else:
            give_answer(run.layout, person, key, int(said["answer"]))


async def survey(request: Request) -> Response:
    """Make a survey and send its page."""
    body = parse_qs((await short_body(request, 2000)).decode(errors="replace"))
    return await run_in_threadpool(_survey, request, {key: values[0] for key, values in body.items()})


def _survey(request: Request, said: dict[str, str]) -> Response:
    count = said.get("images", "")
    if not (count.isascii() and count.isdecimal() and len(count) < 6 and 1 <= int(count) <= MOST_IMAGES):
        raise RecipeError(f"'{count[:20]}' is no number of images", f"at least 1 and at most {MOST_IMAGES:,}")
    order, ratings = ORDERS.get(said.get("order", ""), "shuffled"), said.get("asks") == "ratings"
    with bench(request).shelf.open(request.path_params["name"]) as run:
        out = run.layout.folder / ("ratings.html" if ratings else "survey.html")
        made = _made(run, out, int(count), order, ratings)
        return FileResponse(made.page, filename=f"survey-{made.name}.html", media_type="text/html")


def _made(run: Run, out: Path, images: int, order: Order, ratings: bool) -> Survey:
    """A survey with attention checks, or without them where there are no real images."""
    try:
        return make_survey(run, out, images, None, order, ratings=ratings)
    except RecipeError as error:
        if "attention checks" not in error.message:
            raise
        return make_survey(run, out, images, 0, order, ratings=ratings)


async def returned(request: Request) -> Response:
    """Take the answers of a survey into the run, and say who gave them."""
    content = await short_body(request, LARGEST)
    return JSONResponse({"lines": await run_in_threadpool(_collect, request, content)})


def _collect(request: Request, content: bytes) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="foible-answers-") as folder:
        file = Path(folder) / "answers.csv"
        file.write_bytes(content)
        with bench(request).shelf.open(request.path_params["name"]) as run:
            said = collect(run, [file])
    return [
        f"{one.person}: {plural(one.answers, 'answer')} {'taken' if one.taken else 'left out'}, "
        + (f"attention checks {of(one.checks)}" if one.checks.total else "no attention checks")
        for one in said
    ]


def asset(request: Request) -> Response:
    """The part by which people are asked, here and on the page of a survey."""
    kinds = {"js": "text/javascript", "css": "text/css"}
    kind = request.path_params["kind"]
    if kind not in kinds:
        raise RecipeError(f"there is no asking.{kind[:10]}", "see /")
    return FileResponse(SURVEY / f"asking.{kind}", media_type=kinds[kind])


def _board(lines: list[FindingLine], answers: Answers) -> dict[str, Any]:
    """What people said so far: how much is valid, how much keeps its label, how far they agree."""
    valid = [v for line in lines if (v := answers.valid(line.key)) is not None]
    kept = [k for line in lines if (k := answers.kept(line.key, line.label)) is not None]
    everybody = sorted(answers.by_person.items())
    return {
        "people": [(person, len(mine)) for person, mine in everybody],
        "valid": rate(sum(valid), len(valid)),
        "kept": rate(sum(kept), len(kept)),
        "pairs": [agreement(a, b, ours, theirs) for (a, ours), (b, theirs) in combinations(everybody, 2)],
    }


def _turn(finding: Key) -> float:
    """One shuffled order for everybody: people meet the same images."""
    return random.Random(finding.attempt if not finding.number else str(finding)).random()


def moved(request: Request) -> Response:
    """The page had another address once."""
    return RedirectResponse(f"/runs/{quote(request.path_params['name'])}/people", status_code=308)


routes = [
    Route("/runs/{name}/people", people),
    Route("/runs/{name}/people/results", results),
    Route("/runs/{name}/people/questions", questions),
    Route("/runs/{name}/people/answer", answer, methods=["POST"]),
    Route("/runs/{name}/survey", survey, methods=["POST"]),
    Route("/runs/{name}/survey/answers", returned, methods=["POST"]),
    Route("/asking.{kind}", asset),
    Route("/runs/{name}/judge", moved),
]
