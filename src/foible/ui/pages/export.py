"""Taking results away: made when asked for, sent in pieces, and removed from the disk afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import tomli_w
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from foible.errors import StoreError, did_you_mean
from foible.report import render_page, summarise, to_json
from foible.report.page import without_nothing
from foible.store import Run
from foible.store.answers import read_answers
from foible.store.export import safe, to_parquet, to_tree, to_zip
from foible.store.export import to_json as to_json_table
from foible.ui.live import state_of
from foible.ui.render import bench, page
from foible.ui.selection import Filter, read_filter, select

REPORT_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; sandbox allow-scripts"
)


def export(request: Request) -> Response:
    """What can be taken away."""
    shared, name = bench(request), request.path_params["name"]
    with shared.shelf.open(name) as run:
        chosen, answers = read_filter(request.query_params, len(run.classes)), read_answers(run.layout)
        lines = run.index()
        return page(
            "export",
            here="runs",
            tab="export",
            name=name,
            title=run.manifest.recipe["title"] or name,
            state=state_of(shared.jobs, name, run),
            total=len(lines),
            count=len(select(lines, chosen, answers)),
            counting=len(select(lines, replace(chosen, counts="yes"), answers)),
            chosen=chosen,
            query=chosen.query(),
            folder=str(run.layout.folder),
        )


def download(request: Request) -> Response:
    """One file, made now from what the run holds now."""
    name, file = request.path_params["name"], request.path_params["file"]
    if file not in FILES:
        raise StoreError(f"there is no export called '{file[:80]}'", did_you_mean(file, FILES))
    folder = Path(tempfile.mkdtemp(prefix="foible-export-"))
    try:
        with bench(request).shelf.open(name) as run:
            FILES[file](run, folder / file, read_filter(request.query_params, len(run.classes)))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return FileResponse(
        folder / file,
        filename=f"{safe(name)}-{file}",
        background=BackgroundTask(shutil.rmtree, folder, ignore_errors=True),
    )


def report(request: Request) -> Response:
    """The report page, shut off from the workbench."""
    with bench(request).shelf.open(request.path_params["name"]) as run:
        return Response(render_page(run), media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


def _tree(run: Run, path: Path, chosen: Filter) -> None:
    """Ready to train on: those that count, unless the address says otherwise."""
    folder = path.with_suffix("")
    folder.mkdir()
    to_tree(run, folder, chosen if chosen.counts else replace(chosen, counts="yes"))
    shutil.make_archive(str(folder), "zip", folder)


def _text(make: Callable[[Run], str]) -> Callable[[Run, Path, Filter], object]:
    return lambda run, path, _chosen: path.write_text(make(run), encoding="utf-8")


FILES: dict[str, Callable[[Run, Path, Filter], object]] = {
    "findings.zip": to_zip,
    "tree.zip": _tree,
    "findings.parquet": to_parquet,
    "findings.json": to_json_table,
    "report.html": _text(render_page),
    "summary.json": _text(lambda run: to_json(summarise(run))),
    "recipe.toml": _text(lambda run: tomli_w.dumps(without_nothing(run.manifest.recipe))),
}

routes = [
    Route("/runs/{name}/export", export),
    Route("/runs/{name}/export/{file}", download),
    Route("/runs/{name}/report", report),
]
