"""A workbench of its own for the whole session, and a real Chromium to look at it with.

Debian's chromium is driven by Playwright; `playwright install` is not needed. Without a browser the tests are skipped
on a developer's machine and fail where CI is set.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest

from foible.api import run as run_campaign
from foible.testing.toys import toy_recipe, write_toy_images

SLOW = 180_000  # milliseconds: a busy machine is no reason to fail
ARGUMENTS = (  # noqa: SIM905
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


def chromium_path():
    """A Chromium on this machine; None when there is none."""
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


def _must_have(condition, reason):
    if condition:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; browser tests must not be skipped in CI")
    pytest.skip(f"{reason}: apt install chromium && pip install playwright")


def first_paint(page):
    """Milliseconds until the browser had drawn something of the page it is on."""
    for _ in range(SLOW // 100):
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        if paint is not None:
            return paint
        page.wait_for_timeout(100)
    raise AssertionError("nothing was painted")


def slowness():
    """How much slower this machine is than a quiet one: others may be using it. Never more than threefold, so that a
    limit which stretches with it still says something; what does not depend on others is `processor_seconds`."""
    return min(3.0, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def processor_seconds(process):
    """What a process has used of the processor so far: much the same whoever else uses the machine."""
    user, system = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@dataclass
class Bench:
    """A running workbench."""

    address: str
    runs: Path
    process: subprocess.Popen


def open_bench(folder, *options, environment=None, inside=None):
    """Start `foible ui` on a free port, inside another folder if one is given, and wait until it answers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "foible", "ui", "--port", "0", "--runs", str(folder), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **(environment or {})},
        cwd=inside,
    )
    line = process.stdout.readline()
    assert "foible is at http://" in line, line + process.stdout.read()
    address = line.split("foible is at ")[1].split()[0]
    for _ in range(120):
        try:
            urllib.request.urlopen(address, timeout=30).close()
            break
        except OSError:
            time.sleep(0.5)
    return Bench(address, Path(inside or ".") / folder, process)


def close_bench(bench):
    bench.process.send_signal(signal.SIGTERM)
    bench.process.wait(60)


ZOO = {  # MNIST and CIFAR-10, neither of which needs a download
    "digits": {"domain": "mnist", "generator": "mnist-vae", "classifier": "mnist-deepconv", "data": "sample"},
    "photos": {"domain": "cifar10", "generator": "cifar10-gan", "classifier": "cifar10-vgg"},
}


WAYS = (("digits", 1280, "light"), ("photos", 400, "dark"))  # every flow on both domains, widths and schemes
in_both_ways = pytest.mark.parametrize(("name", "width", "scheme"), WAYS)


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """A runs folder with finished runs of toys, of MNIST and of CIFAR-10; no line of a phone has room for its name.

    Each of the zoo's is there twice, the second time from the same images by another search that nobody judges.
    """
    folder = tmp_path_factory.mktemp("long" * 20)
    images = write_toy_images(folder / "toys")
    for name, models in ZOO.items():
        few = {"name": name, "attempts": 6, "search": "descent", "baseline": {"attempts": 0}}
        recipe = {**models, **few, "engine": {"chunk": 16}}
        run_campaign(recipe, folder / "runs" / name)
        other = {"search": {"use": "descent", "steady": False}, "validators": [], "origins": "any"}
        run_campaign({**recipe, **other, "name": f"{name}-again"}, folder / "runs" / f"{name}-again")
    toys = {"name": "toy-wide", "title": "Bars", "search": {"use": "genetic", "extent": 0.02}}
    run_campaign(toy_recipe(images, attempts=30, **toys), folder / "runs" / "toy-wide")
    return folder / "runs"


@pytest.fixture(scope="session")
def bench(runs, tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    opened = open_bench(runs, environment={"FOIBLE_CACHE": str(cache)})
    yield opened
    close_bench(opened)


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _must_have(False, "playwright is not installed")
    path = chromium_path()
    _must_have(path, "no chromium was found")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


LOOKS = ((1280, "light"), (1280, "dark"), (400, "light"), (400, "dark"))


def in_all_looks(page, check=lambda width, scheme: None):
    """The page that is open, wide and narrow, light and dark: nothing sticks out, and whatever else is to be checked."""
    before = page.viewport_size
    page.wait_for_load_state()  # words are there before the style sheet is
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 860})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (page.url, width)
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 20, 18)"
        assert dark is (scheme == "dark"), page.url
        check(width, scheme)
    page.set_viewport_size(before)


def _is_complaint(said):
    """Errors of the console, but for refusals, which are the answers that a test asks for."""
    return said.type == "error" and not said.text.startswith("Failed to load resource")


@pytest.fixture
def person(browser, bench):
    """Someone at a browser of their own; every page they open is checked for foreign requests and script errors."""
    opened = []

    def sit_down(width=1280, scheme="light"):
        viewport = {"width": width, "height": 860}
        context = browser.new_context(base_url=bench.address, viewport=viewport, color_scheme=scheme)
        context.set_default_timeout(SLOW)
        page = context.new_page()
        page.set_default_navigation_timeout(SLOW)
        page.complaints, page.foreign = [], []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda said: page.complaints.append(said.text) if _is_complaint(said) else None)
        page.on(
            "request",
            lambda request: (
                page.foreign.append(request.url)
                if not request.url.startswith((bench.address, "data:", "blob:"))
                else None
            ),
        )
        opened.append((context, page))
        return page

    yield sit_down
    for context, page in opened:
        assert not page.complaints and not page.foreign
        context.close()
