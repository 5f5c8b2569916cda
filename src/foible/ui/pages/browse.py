"""The gallery of a run: the confusion map, filters, failures page by page, each to be enlarged, selected and labelled."""

from __future__ import annotations

import math

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foible.metrics.pairs import class_pairs
from foible.report.page import LISTED, confusion_matrix
from foible.store.answers import read_answers
from foible.store.selection import counts, is_judged
from foible.survey import choices
from foible.ui.glance import tally
from foible.ui.live import state_of
from foible.ui.pages.cards import card
from foible.ui.render import bench, page
from foible.ui.selection import COUNTS, JUDGED, ORDERS, PAGE, read_filter, select

SMALL = 64  # pixels on a side up to which an image is shown enlarged
MOST_BUTTONS = 36  # answers offered on the spot


def browse(request: Request) -> Response:
    """The failures that pass the filter of the address."""
    shared, name = bench(request), request.path_params["name"]
    with shared.shelf.open(name) as run:
        chosen, answers, lines = (
            read_filter(request.query_params, len(run.classes)),
            read_answers(run.layout),
            run.index(),
        )
        found = select(lines, chosen, answers, run.confidences)
        pages = max(1, math.ceil(len(found) / PAGE))
        number = min(chosen.page, pages)
        shown = found[(number - 1) * PAGE : number * PAGE]
        pairs = class_pairs(lines)
        return page(
            "browse",
            here="runs",
            tab="failures",
            name=name,
            title=run.manifest.recipe["title"] or name,
            state=state_of(shared.jobs, name, run),
            classes=run.classes,
            chosen=chosen,
            total=len(lines),
            found=len(found),
            pages=pages,
            number=number,
            cards=[(card(run, f.key), counts(f, answers) if is_judged(f, answers) else None) for f in shown],
            tally=tally(lines, answers),
            photo=run.manifest.shape[0] == 3,
            small=min(run.manifest.shape[1:]) <= SMALL,
            choices=[c for c in choices(run.classes) if c.answer >= -1][:MOST_BUTTONS],
            query=chosen.query(),
            matrix=confusion_matrix(pairs),
            listed=pairs[:LISTED],
            orders=ORDERS,
            judged=JUDGED,
            counting=COUNTS,
            labels=sorted({p.label for p in pairs}),
            predictions=sorted({p.predicted for p in pairs}),
        )


routes = [Route("/runs/{name}/findings", browse)]
