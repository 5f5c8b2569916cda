"""Retake the pictures of the documentation, all of them: `python -m tests.browser.screenshots`.

Real runs of the models that come with foible, in a folder that is thrown away: the pages of the workbench and the report of the
demo. Pictures that no page of the documentation asks for any more are removed. `--looks` takes every page in light and dark,
1280 and 400 pixels wide, into a folder to look through.
"""

import argparse
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from foible.store import open_run
from foible.store.layout import Layout
from foible.ui.jobs import process_of
from foible.zoo import entry, load_model

from .conftest import ARGUMENTS, chromium_path, close_bench, open_bench

DOCS = Path(__file__).parents[2] / "docs" / "workbench"
REPORT = "../report"  # the picture of the README, beside the folder of the others
LOOKS = {f"{width}-{scheme}": (width, scheme) for width in (1280, 400) for scheme in ("light", "dark")}
PATIENCE = 600_000  # milliseconds: pictures may be taken on a machine that is busy with other things
TALLEST = 2300  # pixels kept of a page in the documentation
COLOURS = 128
DRAWN = """() => Promise.all([...document.images].filter(image => image.checkVisibility()).map(image => {
  image.loading = "eager"; return image.decode().catch(() => null); }))"""
EXTRA = (("setup", "400-dark"), ("failures", "1280-dark"), ("watch", "400-light"), ("compare", "400-dark"))


@dataclass(frozen=True)
class Shot:
    """A page: where it is, what to do there before the picture, and which part is wanted where it is not the whole."""

    name: str
    path: str
    prepare: Callable[[Page], object] = lambda _: None
    part: str = ""
    tallest: int = TALLEST


def measured(page: Page) -> None:
    page.locator("#panel .cost b").wait_for()


def uploaded(model: Path) -> Callable[[Page], None]:
    def prepare(page: Page) -> None:
        page.locator("#file").set_input_files(model)
        page.locator("#recognised", has_text="Recognised").wait_for()
        page.locator("#own").evaluate("own => { own.open = true; }")
        page.get_by_label("Value range").fill("0,1")
        page.locator("#probe", has_text="(as you say)").wait_for()
        measured(page)

    return prepare


def walked(page: Page) -> None:
    page.locator("#way-step:enabled").wait_for()
    page.locator("#way-step").press("End")


def opened(page: Page) -> None:
    measured(page)
    page.get_by_text("More: generator").click()
    page.locator("[name=search]").select_option("descent")


def answered(page: Page) -> None:
    page.locator(".figure").first.wait_for()


def asked(page: Page) -> None:
    page.get_by_label("Your name").fill("someone")
    page.get_by_role("button", name="Begin").click()
    page.locator("#choices button").first.wait_for()


def watched(page: Page) -> None:
    page.locator(".card").nth(3).wait_for()
    page.locator(".chart polyline").first.wait_for()


def without_classes(page: Page) -> None:
    """The report without its tables by class, which would push the failures out of the picture."""
    page.evaluate("document.getElementById('classes').closest('section').remove()")


def start_long_run(page: Page) -> None:
    """A run that is still going when its picture is taken."""
    page.goto("/setup?recipe=demo&attempts=20000&baseline=0&name=going")
    measured(page)
    page.get_by_role("button", name="Find failures").click()
    page.wait_for_url("**/runs/going")


PHOTOS = ("search=descent", "attempts=24", "baseline.attempts=6", "ends=never", "title=Small photographs, from a GAN")
RUNS = {
    "demo": ("demo",),
    "unsteady": ("demo", "search.steady=false", "title=Descent without variations", "attempts=15"),
    "photos": ("gift-cifar10-gan-high", *PHOTOS),
}


def make_runs(folder: Path) -> None:
    """Finished runs, two of which start from the same images, and the answers to two questions without a search."""
    for name, (recipe, *changes) in RUNS.items():
        words = [word for change in changes for word in ("--set", change)]
        command = ["run", recipe, "--out", str(folder / name), "--quiet", *words]
        subprocess.run([sys.executable, "-m", "foible", *command], check=True)


def ask_the_rest(page: Page, runs: Path) -> None:
    """The two questions that need no search, asked on the page."""
    archive = runs.parent / "my-digits.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for finding in open_run(runs / "demo").findings():
            packed.write(runs / "demo" / finding.image, f"{finding.label}/{finding.key}.png")
    for question in ("judging", "coverage"):
        page.goto(f"/ask/{question}?domain=mnist")
        page.locator("#file-images").set_input_files(archive)
        page.get_by_text("is here.").wait_for()
        if question == "coverage":
            page.locator("#f-classifier").select_option("mnist-lenet5")
        page.locator("button.primary").click()
        page.wait_for_url("**/studies/*")
        answered(page)


def save_network(path: Path) -> Path:
    """The zoo's classifier as a file of one's own."""
    network = load_model(entry("mnist-deepconv").path(), "classifiers").network.module.eval()
    torch.jit.trace(network, torch.rand(2, 1, 28, 28)).save(str(path))
    return path


OTHERS = [
    Shot("overview", "/runs/demo"),
    Shot("nothing-here", "/runs/none"),
    Shot("none-pass", "/runs/demo/findings?least=9999999"),
]


def shots(runs: Path, model: Path) -> list[Shot]:
    line = open_run(runs / "demo").index()[0]
    return [
        Shot("ask", "/"),
        Shot("runs", "/runs"),
        Shot("setup", "/setup", measured),
        Shot("more", "/setup?domain=cifar10", opened, "#more"),
        Shot("own-classifier", "/setup", uploaded(model), ".form"),
        Shot("failures", "/runs/photos/findings"),
        Shot("finding", f"/runs/demo/findings/{line.attempt}", walked),
        Shot("compare", "/compare?run=demo&run=unsteady"),
        Shot("people", "/runs/photos/people", asked),
        Shot("judging", "/studies/my-digits-judged", answered),
        Shot("coverage", "/studies/mnist-lenet5-coverage", answered),
        Shot("export", "/runs/demo/export"),
        Shot(REPORT, "/runs/demo/report", without_classes, tallest=2460),
        Shot("watch", "/runs/going", watched),
    ]


def take(page: Page, shot: Shot, tallest: int | None = None) -> bytes:
    page.goto(shot.path)
    shot.prepare(page)
    page.evaluate(DRAWN)
    picture = page.locator(shot.part).screenshot() if shot.part else page.screenshot(full_page=True)
    return small(picture, tallest) if tallest else picture


def small(picture: bytes, tallest: int) -> bytes:
    """A picture with a palette, cut at a height."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, tallest)))
    buffer = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def take_all(sit_down: Callable[[str], Page], listed: list[Shot], folder: Path, every_look: bool) -> None:
    """Take pages into a folder, each in all looks or as the documentation shows it."""
    for shot in listed:
        looks = LOOKS if every_look else ["1280-light", *(look for name, look in EXTRA if name == shot.name)]
        for look in looks:
            name = shot.name if look == "1280-light" and not every_look else f"{shot.name}-{look}"
            page = sit_down(look)
            picture = take(page, shot, None if every_look else shot.tallest)
            page.context.close()
            (folder / f"{name}.png").write_bytes(picture)
            print(f"{name}.png: {len(picture) / 1000:.0f} kB", flush=True)


def stop(run: Path) -> None:
    """End a run that was only there to be watched."""
    if run.is_dir() and (process := process_of(Layout(run))):
        os.kill(process, signal.SIGINT)
        while process_of(Layout(run)):
            time.sleep(0.2)


def remove_unused() -> None:
    """Remove pictures that the documentation does not show; complain of those it shows and that are not there."""
    said = (DOCS.parent / "workbench.md").read_text()
    for picture in DOCS.glob("*.png"):
        if f"workbench/{picture.name}" not in said:
            picture.unlink()
            print(f"{picture.name} is not shown anywhere: removed")
    missing = [name for name in re.findall(r"\(workbench/([\w-]+\.png)\)", said) if not (DOCS / name).is_file()]
    if missing:
        raise SystemExit(f"docs/workbench.md shows pictures that were not taken: {', '.join(missing)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--looks", type=Path, help="take every page in all four looks into this folder")
    parser.add_argument("--runs", type=Path, help="make the runs here and keep them for the next time")
    parser.add_argument("--only", nargs="*", help="names of pages")
    chosen = parser.parse_args()
    folder = chosen.looks or DOCS
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        runs, model = chosen.runs or Path(scratch) / "runs", save_network(Path(scratch) / "my-network.pt")
        make_runs(runs)
        for name in ("going", "my-digits-judged", "mnist-lenet5-coverage"):
            shutil.rmtree(runs / name, ignore_errors=True)
        bench = open_bench(runs.name, environment={"FOIBLE_CACHE": f"{scratch}/cache"}, inside=runs.parent)
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)

        def sit_down(look: str) -> Page:
            width, scheme = LOOKS[look]
            viewport = {"width": width, "height": 860}
            page = browser.new_context(base_url=bench.address, viewport=viewport, color_scheme=scheme).new_page()
            page.set_default_timeout(PATIENCE)
            return page

        try:
            ask_the_rest(sit_down("1280-light"), runs)
            start_long_run(sit_down("1280-light"))
            listed = [*shots(runs, model), *(OTHERS if chosen.looks else [])]
            wanted = [shot for shot in listed if not chosen.only or shot.name in chosen.only]
            take_all(sit_down, wanted, folder, bool(chosen.looks))
        finally:
            stop(runs / "going")
            browser.close()
            close_bench(bench)
    if not chosen.looks and not chosen.only:
        remove_unused()


if __name__ == "__main__":
    main()
