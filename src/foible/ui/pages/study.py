"""The answer to a question that needed no search: coverage figures, or a verdict for each image."""

from __future__ import annotations

import csv
import math
from typing import Any

import torch
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from foible.domains import Domain, load_domain
from foible.errors import StoreError
from foible.images import as_pixels, read_pixels, to_images
from foible.judging.sources import submitted
from foible.measuring import text as measured
from foible.measuring.result import Measurement
from foible.metrics import rate
from foible.report.gallery import picture_uri
from foible.store.layout import Layout, inside, no_links_outside, read_inside
from foible.ui.live import GOING
from foible.ui.pages.export import REPORT_POLICY
from foible.ui.pages.listing import study_state
from foible.ui.questions import COVERAGE, question
from foible.ui.render import Bench, bench, html, page
from foible.ui.studies import MEASURED, PAGE, PICTURES, VERDICTS, Study, read_study

SHOWN = 24  # images on a page
FILES = {VERDICTS: "text/csv", MEASURED: "application/json"}


def study(request: Request) -> Response:
    """The page of a study, while it is being answered and afterwards."""
    return page("study", here="runs", **_values(request))


def part(request: Request) -> Response:
    """What changes while it is being answered."""
    return Response(html("study_part", **_values(request)), media_type="text/html")


def whole(request: Request) -> Response:
    """The page that the command wrote, shut off from the workbench."""
    layout, _ = _opened(bench(request), request.path_params["name"])
    content = read_inside(layout.folder, PAGE)
    return Response(content, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


def file(request: Request) -> Response:
    """A file of results."""
    layout, _ = _opened(bench(request), request.path_params["name"])
    name = request.path_params["file"]
    if name not in FILES or not inside(layout.folder, name).is_file():
        raise StoreError(f"there is no file '{name[:80]}'", "wait until it is done")
    return FileResponse(layout.folder / name, media_type=FILES[name], filename=f"{layout.folder.name}-{name}")


def stop(request: Request) -> Response:
    """Stop answering."""
    name = request.path_params["name"]
    bench(request).jobs.stop(name)
    return RedirectResponse(f"/studies/{name}", status_code=303)


def go_on(request: Request) -> Response:
    """Ask again."""
    name = request.path_params["name"]
    bench(request).jobs.go_on(name)
    return RedirectResponse(f"/studies/{name}", status_code=303)


def _opened(shared: Bench, name: str) -> tuple[Layout, Study]:
    layout = shared.shelf.existing(name)
    no_links_outside(layout.folder)
    asked = read_study(layout)
    if asked is None:
        raise StoreError(f"'{name}' is not the answer to a question", "see the list of runs")
    return layout, asked


def _values(request: Request) -> dict[str, Any]:
    shared, name = bench(request), request.path_params["name"]
    layout, asked = _opened(shared, name)
    state = study_state(shared, name, layout, asked)
    values: dict[str, Any] = {
        "name": name,
        "study": asked,
        "question": question(asked.question),
        "state": state,
        "going": state in GOING,
        "seconds": shared.jobs.seconds(name),
        "log": "" if state == "complete" else shared.jobs.log(name, 4000),
        "result": None,
    }
    if state != "complete":
        return values
    read = _coverage if asked.question == COVERAGE.key else _verdicts
    try:
        return values | {"result": read(layout, asked, request)}
    except (ValueError, KeyError, OSError) as error:
        raise StoreError(f"the results of '{name}' are damaged: {type(error).__name__}", "ask again") from error


def _coverage(layout: Layout, asked: Study, request: Request) -> dict[str, Any]:  # noqa: ARG001
    found = Measurement.model_validate_json(read_inside(layout.folder, MEASURED))
    never = [(m.layer, len(m.never), len(m.visited)) for m in found.maps]
    return {
        "measurement": found,
        "table": measured.suite_table(found, short=True),
        "layers": measured.layer_table(found, found.suites[0]),
        "never": never,
        "total": (sum(n for _, n, _ in never), sum(n for _, _, n in never)),
    }


def _verdicts(layout: Layout, asked: Study, request: Request) -> dict[str, Any]:
    domain = load_domain(asked.domain)
    lines = list(csv.DictReader(read_inside(layout.folder, VERDICTS).decode("utf-8").splitlines()))
    for line in lines:
        line["counts"] = line["valid"] == "true" and line["kept"] != "false"
    wanted = request.query_params.get("counts", "")
    chosen = [line for line in lines if wanted not in {"yes", "no"} or line["counts"] is (wanted == "yes")]
    pages = max(1, math.ceil(len(chosen) / SHOWN))
    text = request.query_params.get("page", "1")
    number = min(max(1, int(text)), pages) if text.isascii() and text.isdecimal() and len(text) < 7 else 1
    shown = chosen[(number - 1) * SHOWN : number * SHOWN]
    pictures = _pictures(layout, domain, [line["file"] for line in shown])
    return {
        "rate": rate(sum(bool(line["counts"]) for line in lines), len(lines)),
        "labelled": any(line["kept"] for line in lines),
        "cards": [(line, pictures.get(line["file"]), domain) for line in shown],
        "classes": domain.classes,
        "photo": domain.shape[0] == 3,
        "wanted": wanted,
        "number": number,
        "pages": pages,
        "found": len(chosen),
    }


def _pictures(layout: Layout, domain: Domain, names: list[str]) -> dict[str, str]:
    """The images of these names as they were judged."""
    folder, found = layout.folder / PICTURES, dict[str, str]()
    arrays = {name.rpartition("#")[0] or name for name in names if "#" in name or name.endswith(".npy")}
    for name in names:
        if name not in arrays and "#" not in name:
            path = inside(folder, name)
            if path.is_file():
                found[name] = _uri(to_images(read_pixels(path, domain.shape, resize=True)[None])[0])
    for array in arrays:
        path = inside(folder, array)
        for one in submitted(path, domain) if path.is_file() else ():
            found |= {n: _uri(one.images[k]) for k, n in enumerate(one.names) if n in names}
    return found


def _uri(image: torch.Tensor) -> str:
    return picture_uri(as_pixels(image))


routes = [
    Route("/studies/{name}", study),
    Route("/studies/{name}/live", part),
    Route("/studies/{name}/page", whole),
    Route("/studies/{name}/files/{file}", file),
    Route("/studies/{name}/stop", stop, methods=["POST"]),
    Route("/studies/{name}/go-on", go_on, methods=["POST"]),
]
