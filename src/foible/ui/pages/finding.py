"""One finding: what changed, what the classifier said before and after, the way between the two, how to replay it."""

from __future__ import annotations

import base64
import shlex
from dataclasses import dataclass

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from foible.errors import StoreError
from foible.images import png
from foible.records import Finding, Key
from foible.report.wording import percent
from foible.store import Run
from foible.store.answers import NOTHING, OTHER, Answers, read_answers
from foible.store.export import stem
from foible.store.pictures import pictures
from foible.store.selection import counts, decided, is_judged, is_kept, is_valid
from foible.survey import choices
from foible.ui.pages.browse import MOST_BUTTONS
from foible.ui.pages.cards import card
from foible.ui.render import bench, page
from foible.ui.selection import read_filter, select
from foible.ui.verdicts import Question, reasons
from foible.ui.workshop import sheet


class FindingKey(Convertor[Key]):
    """Keys as they stand in addresses."""

    regex = "[0-9]{1,11}(-[0-9]{1,11})?"

    def convert(self, value: str) -> Key:
        """From an address."""
        return Key.read(value)

    def to_string(self, value: Key) -> str:
        """Into an address."""
        return str(value)


register_url_convertor("finding", FindingKey())
BARS = 10  # classes shown with their probabilities


@dataclass(frozen=True)
class Bar:
    """One class with its probability before and after."""

    name: str
    role: str
    before: float
    after: float


def finding(request: Request) -> Response:
    """The page of a finding; the filter in its address says which ones come before and after."""
    name, key = request.path_params["name"], request.path_params["key"]
    with bench(request).shelf.open(name) as run:
        chosen, answers = read_filter(request.query_params, len(run.classes)), read_answers(run.layout)
        found, order = run.finding(key), [f.key for f in select(run.index(), chosen, answers, run.confidences)]
        place = order.index(key) if key in order else -1
        sees = {NOTHING: "nothing recognisable", OTHER: "another class"} | dict(enumerate(run.classes))
        return page(
            "finding",
            here="runs",
            tab="failures",
            name=name,
            title=run.manifest.recipe["title"] or name,
            classes=run.classes,
            finding=found,
            card=card(run, key),
            bars=bars(run, found),
            questions=questions(found, answers, run.classes[found.label]),
            counts=counts(found, answers) if is_judged(found, answers) else None,
            photo=run.manifest.shape[0] == 3,
            choices=[c for c in choices(run.classes) if c.answer >= -1][:MOST_BUTTONS],
            votes=[(sees.get(a, "?"), n) for a, n in answers.votes(key).most_common()],
            previous=order[place - 1] if place > 0 else None,
            following=order[place + 1] if 0 <= place < len(order) - 1 else None,
            place=place + 1,
            count=len(order),
            query=chosen.query(),
            generator=run.manifest.recipe["generator"]["use"],
            command=f"foible replay {shlex.quote(str(run.layout.folder))} {key}",
        )


def picture(request: Request) -> Response:
    """The picture of a failure, or of its starting image, as it was stored."""
    name, key, which = (request.path_params[part] for part in ("name", "key", "which"))
    with bench(request).shelf.open(name) as run:
        found = run.finding(key)
        stored = pictures(run, found)
        content = stored.failure if which == "failure" else stored.origin
        if which not in {"failure", "start"} or content is None:
            raise StoreError(f"there is no such picture of failure {key}", "; ".join(stored.damage))
        file = stem(run, found) + ("" if which == "failure" else "_start")
    headers = {"Content-Disposition": f'attachment; filename="{file}.png"', "Cache-Control": "private, max-age=3600"}
    return Response(content, media_type="image/png", headers=headers)


def path(request: Request) -> Response:
    """The images from origin to failure in one strip, and what the classifier says of each."""
    with bench(request).shelf.open(request.path_params["name"]) as run:
        found = run.finding(request.path_params["key"])
        way = bench(request).workshop.path(run, found)
        answers = way.probabilities.max(1)
        steps = [
            {"text": f"taken for {run.classes[label]}, {percent(sure)}", "wrong": label != found.label}
            for sure, label in zip(answers.values.tolist(), answers.indices.tolist(), strict=True)
        ]
        strip = base64.b64encode(png(sheet(way.images))).decode()
        return JSONResponse({"strip": f"data:image/png;base64,{strip}", "steps": steps})


def questions(found: Finding, answers: Answers, expected: str) -> tuple[Question, ...]:
    """Whether the failure counts: is it an image of the domain, does it keep its label, is it steady?"""
    return (
        Question(
            "Is it an image of the domain?",
            is_valid(found, answers),
            reasons(found.verdicts, "image", expected),
        ),
        Question(
            f"Does it still show {expected}?", is_kept(found, answers), reasons(found.verdicts, "label", expected)
        ),
        *(
            [Question("Is it steady?", steady, reasons(found.verdicts, "steadiness", expected))]
            if (steady := decided(found.verdicts, "steadiness")) is not None
            else []
        ),
    )


def bars(run: Run, found: Finding) -> list[Bar]:
    """The classes that matter most, before or after."""
    pairs = list(zip(found.origin_probabilities, found.probabilities, strict=True))
    strongest = sorted(range(len(pairs)), key=lambda k: -max(pairs[k]))[:BARS]
    roles = {found.label: "expected", found.predicted: "predicted"}
    return [Bar(run.classes[k], roles.get(k, ""), *pairs[k]) for k in sorted(strongest)]


routes = [
    Route("/runs/{name}/findings/{key:finding}", finding),
    Route("/runs/{name}/findings/{key:finding}/path", path),
    Route("/runs/{name}/findings/{key:finding}/{which}.png", picture),
]
