"""How soon do the workbench's pages paint, and how often does a run that is going bring news?

    python benchmarks/page_speed.py --runs FOLDER [--visits 3] [--seconds 20]

A real Chromium with an empty cache opens every page of the workbench at two widths: the time until something is drawn (first
contentful paint). Then the demo with many attempts runs in a process of its own, and the time between updates of its page is
taken, with that process using the cores. FOLDER holds finished runs; needs playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from foible.store import open_run
from page_memory import before_runs, opened

PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
NEWS = """seconds => new Promise(done => { const seen = [], live = document.getElementById("live");
  const look = () => seen.push([performance.now(), live.querySelector("#status").textContent]);
  new MutationObserver(look).observe(live, {attributes: true, attributeFilter: ["data-updated"]});
  setTimeout(() => done(seen), 1000 * seconds); })"""


def pages(runs: Path) -> list[str]:
    """Every page that a visitor waits for."""
    asked, names = before_runs(runs)
    for name in names:
        key = next(iter(open_run(runs / name).index())).key
        asked += [f"/runs/{name}{part}" for part in ("", "/findings", f"/findings/{key}", "/people", "/export")]
    return asked


def paints(browser: Browser, address: str, paths: list[str], visits: int) -> dict[str, float]:
    """Milliseconds to the first paint of each page: medians over visits, each in a fresh browser window."""
    taken: dict[str, list[float]] = {}
    for _ in range(visits):
        for width in (1280, 400):
            window = browser.new_context(base_url=address, viewport={"width": width, "height": 860})
            for path in paths:
                page = window.new_page()
                page.goto(path)
                while (painted := page.evaluate(PAINT)) is None:
                    page.wait_for_timeout(20)
                taken.setdefault(f"{width} {path}", []).append(painted)
                page.close()
            window.close()
    return {path: statistics.median(values) for path, values in taken.items()}


def news(browser: Browser, address: str, runs: Path, seconds: int) -> dict[str, Any]:
    """Milliseconds between the updates of a run that is going, and how many brought something new."""
    words = ["run", "demo", "--out", str(runs / "going"), "--quiet", "--attempts", "5000"]
    going = subprocess.Popen([sys.executable, "-m", "foible", *words], stderr=subprocess.DEVNULL)
    try:
        page = browser.new_page(base_url=address)
        for _ in range(120):
            page.goto("/runs/going")
            if page.locator("#status", has_text="evaluations/s").count():
                break
            page.wait_for_timeout(1000)
        seen = page.evaluate(NEWS, seconds)
    finally:
        going.send_signal(signal.SIGINT)
        going.wait(60)
    gaps = sorted(b - a for (a, _), (b, _) in pairwise(seen))
    facts = {"updates": len(seen), "different": len({text for _, text in seen}), "seconds": seconds}
    return facts | {"median_ms": round(statistics.median(gaps)), "largest_ms": round(gaps[-1])}


def main() -> None:
    """Print both, the slowest pages by name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--visits", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        runs = Path(shutil.copytree(chosen.runs, Path(scratch) / "runs"))
        paths = pages(runs)
        process, address = opened(runs)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        try:
            paints(browser, address, paths[:2], 1)  # the server and the browser have started
            drawn = paints(browser, address, paths, chosen.visits)
            slowest = sorted(drawn, key=drawn.__getitem__)[-3:]
            facts: dict[str, Any] = {"pages": len(drawn), "visits": chosen.visits, "load": os.getloadavg()}
            facts["median_ms"] = round(statistics.median(drawn.values()))
            facts["slowest_ms"] = {path: round(drawn[path]) for path in slowest}
            print(json.dumps({"first_paint": facts}), flush=True)
            print(json.dumps({"news": news(browser, address, runs, chosen.seconds)}))
        finally:
            browser.close()
            process.send_signal(signal.SIGTERM)
            process.wait(30)


if __name__ == "__main__":
    main()
