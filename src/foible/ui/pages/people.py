"""People look at findings and say what they see, without being told what is expected."""

from __future__ import annotations

import random
from itertools import combinations
from urllib.parse import parse_qs, quote

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from foible.errors import RecipeError
from foible.metrics import agreement, rate
from foible.store.answers import Answers, give_answer, person_name, read_answers
from foible.store.reader import FindingLine
from foible.survey import Choice, choices
from foible.types import Key
from foible.ui.pages.cards import card
from foible.ui.render import bench, html, page, short_body


def people(request: Request) -> Response:
    """The page; the next finding is fetched when the person has said who they are."""
    shared, name = bench(request), request.path_params["name"]
    with shared.shelf.open(name) as run:
        lines, answers = run.index(), read_answers(run.layout)
        return page(
            "people",
            here="runs",
            tab="people",
            name=name,
            title=run.manifest.recipe["title"] or name,
            total=len(lines),
            board=html("board", **_board(lines, answers)),
        )


def question(request: Request) -> Response:
    """The next finding that a person has not seen."""
    person = person_name(request.query_params.get("person", ""))
    with bench(request).shelf.open(request.path_params["name"]) as run:
        lines, answers = run.index(), read_answers(run.layout)
        mine = answers.by_person.get(person, {})
        left = [line.key for line in lines if line.key not in mine]
        board = html("board", **_board(lines, answers))
        if not left:
            return JSONResponse({"done": True, "answered": len(mine), "total": len(lines), "board": board})
        finding = min(left, key=_turn)
        return JSONResponse(
            {
                "done": False,
                "finding": str(finding),
                "picture": card(run, finding).failure,
                "choices": [vars(c) for c in _choices(run.classes)],
                "answered": len(mine),
                "total": len(lines),
                "board": board,
            }
        )


async def answer(request: Request) -> Response:
    """Note what a person sees."""
    body = parse_qs((await short_body(request, 2000)).decode(errors="replace"))
    person = person_name(body.get("person", [""])[0])
    with bench(request).shelf.open(request.path_params["name"]) as run:
        said = body.get("answer", [""])[0]
        if said not in {str(c.answer) for c in _choices(run.classes)}:
            raise RecipeError("this is not one of the answers", "reload the page")
        finding = run.finding(Key.read(body.get("finding", [""])[0]))
        give_answer(run.layout, person, finding.key, int(said))
    return JSONResponse({})


def _board(lines: list[FindingLine], answers: Answers) -> dict[str, object]:
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


def _choices(classes: tuple[str, ...]) -> list[Choice]:
    """The answers that have a key."""
    return [choice for choice in choices(classes) if choice.key]


def _turn(finding: Key) -> float:
    """One shuffled order for everybody: people meet the same images."""
    return random.Random(finding.attempt if not finding.number else str(finding)).random()


def moved(request: Request) -> Response:
    """The page had another address once."""
    return RedirectResponse(f"/runs/{quote(request.path_params['name'])}/people", status_code=308)


routes = [
    Route("/runs/{name}/people", people),
    Route("/runs/{name}/people/question", question),
    Route("/runs/{name}/people/answer", answer, methods=["POST"]),
    Route("/runs/{name}/judge", moved),
]
