"""Retake the pictures of the workbench for the documentation: `python -m tests.browser.screenshots`.

Real runs of the models that come with foible, in a folder that is thrown away. `--looks` takes every page in light and
dark, 1280 and 400 pixels wide, into a folder to look through.
"""

import argparse
import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from foible.store import open_run
from foible.zoo import entry, load_model

from .conftest import ARGUMENTS, chromium_path, close_bench, open_bench

DOCS = Path(__file__).parents[2] / "docs" / "workbench"
LOOKS = {f"{width}-{scheme}": (width, scheme) for width in (1280, 400) for scheme in ("light", "dark")}
PATIENCE = 3_600_000  # milliseconds: pictures may be taken on a machine that is busy with other things
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


def measured(page: Page) -> None:
    page.locator("#panel .cost b").wait_for()


def uploaded(model: Path) -> Callable[[Page], None]:
    def prepare(page: Page) -> None:
        page.locator("#file").set_input_files(model)
        page.locator("#recognised", has_text="Recognised").wait_for()
        page.get_by_text("How it wants its images").click()
        page.get_by_label("Value range").fill("0,1")
        page.get_by_text("(as you say)").first.wait_for()
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


def start_long_run(page: Page) -> None:
    """A run that is still going when its picture is taken."""
    page.goto("/setup?recipe=demo&attempts=2000&baseline=0&name=going")
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
        bench = open_bench(runs.name, environment={"FOIBLE_CACHE": f"{scratch}/cache"}, inside=runs.parent)
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)

        def sit_down(look: str) -> Page:
            width, scheme = LOOKS[look]
            page = browser.new_page(
                base_url=bench.address, viewport={"width": width, "height": 860}, color_scheme=scheme
            )
            page.set_default_timeout(PATIENCE)
            return page

        try:
            shutil.rmtree(runs / "going", ignore_errors=True)
            shutil.rmtree(runs / "my-digits-judged", ignore_errors=True)
            shutil.rmtree(runs / "mnist-lenet5-coverage", ignore_errors=True)
            ask_the_rest(sit_down("1280-light"), runs)
            start_long_run(sit_down("1280-light"))
            for shot in [*shots(runs, model), *(OTHERS if chosen.looks else [])]:
                if chosen.only and shot.name not in chosen.only:
                    continue
                looks = LOOKS if chosen.looks else ["1280-light", *(look for name, look in EXTRA if name == shot.name)]
                for look in looks:
                    suffix = "" if look == "1280-light" and not chosen.looks else f"-{look}"
                    picture = take(sit_down(look), shot, None if chosen.looks else TALLEST)
                    (folder / f"{shot.name}{suffix}.png").write_bytes(picture)
                    print(f"{shot.name}{suffix}.png: {len(picture) / 1000:.0f} kB", flush=True)
        finally:
            page = sit_down("1280-light")
            page.goto("/runs/going")
            page.get_by_role("button", name="Stop").click()
            page.locator("[data-state=interrupted]").wait_for()
            browser.close()
            close_bench(bench)


if __name__ == "__main__":
    main()
