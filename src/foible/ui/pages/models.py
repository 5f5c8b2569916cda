"""Files of the visitor's own: taken, forgotten, and tried to see what kind of images a model is for."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from foible.report.wording import percent
from foible.ui.command import as_table
from foible.ui.offers import Offers
from foible.ui.reading import UPLOADED
from foible.ui.recognising import Recognised
from foible.ui.render import bench, session, tab
from foible.ui.uploads import describes_itself, receive, table_of
from foible.zoo.files import read_model_file


async def upload(request: Request) -> Response:
    """Take a classifier file for this session."""
    bench(request).sessions.make_room(session(request))
    taken = await receive(request, session(request), bench(request).largest_upload)
    own = not describes_itself(taken.path)
    return JSONResponse({"key": f"{UPLOADED}{taken.key}", "name": taken.name, "own": own})


def remove_upload(request: Request) -> Response:
    """Forget a file of this session."""
    session(request).remove(request.path_params["key"])
    return JSONResponse({})


async def recognise(request: Request) -> Response:
    """Which kind of images an uploaded model is for, by trying it on all of them."""
    shared, mine = bench(request), session(request)
    upload = mine.upload(request.query_params.get("model", "").removeprefix(UPLOADED))
    likely = request.query_params.get("domain", "")
    domains = {d.name: d.use for d in sorted(shared.offers.domains, key=lambda d: d.name != likely)}
    if describes_itself(upload.path):
        own = read_model_file(upload.path)[0].domain
        return JSONResponse({"domain": own if own in domains else None, "words": f"It says that it is for {own}."})
    table = as_table(table_of(upload.path))
    found = await shared.probing.recognise(table, domains, tab(request), request.is_disconnected)
    if found is None:
        return JSONResponse({"domain": None, "words": ""})
    return JSONResponse({"domain": found.domain, "words": shared.discreet(recognised_words(found, shared.offers))})


def recognised_words(found: Recognised, offers: Offers) -> str:
    """What was recognised, with the numbers behind it."""
    titles = {d.name: d.domain.title or d.name for d in offers.domains}
    ranked = sorted((t for t in found.tried if t.share is not None), key=lambda t: -(t.share or 0))
    said = ", ".join(f"{titles[t.domain]} {percent(t.share)}" for t in ranked[:3])
    if found.domain:
        return f"Recognised: right most often on {said}."
    if not ranked:
        why = found.problem or next((t.why for t in found.tried if t.why), "it could not be tried")
        return f"Not recognised: {why}. Say below what it is for."
    return f"Not recognised: right on {said}. Say below what it is for."


routes = [
    Route("/uploads", upload, methods=["POST"]),
    Route("/uploads/{key}/remove", remove_upload, methods=["POST"]),
    Route("/uploads/recognise", recognise, methods=["POST"]),
]
