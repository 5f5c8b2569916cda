"""Is the workbench's memory bounded? Opens its pages some hundred times and notes what the server holds after each round.

    python benchmarks/page_memory.py [--rounds 10] [--runs FOLDER]

The runs are the demo's, with few attempts, unless a folder is named. All pages are opened, with the pictures of all domains
and generators, exports, the way to every failure, and a live update; memory is that of the server's process alone
(probes run in processes of their own, which end).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

from foible.store import open_run
from foible.ui.offers import make_offers


def opened(runs: Path) -> tuple[subprocess.Popen[str], str]:
    """A workbench on a free port."""
    command = [sys.executable, "-m", "foible", "ui", "--port", "0", "--runs", str(runs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = re.search(r"http://\S+", process.stdout.readline())
    assert address is not None
    return process, address.group()


def before_runs(runs: Path) -> tuple[list[str], list[str]]:
    """The pages that belong to no single run, and the names of the runs."""
    asked = [
        "/",
        "/runs",
        "/setup",
        "/setup?question=borders",
        "/setup?question=changes",
        "/ask/coverage",
        "/ask/judging",
    ]
    names = sorted(p.name for p in runs.iterdir() if (p / "manifest.json").is_file())
    return [*asked, "/compare?" + "&".join(f"run={name}" for name in names[:4])], names


def paths(runs: Path) -> list[str]:
    """Every page, every picture, and the way to every failure."""
    found, names = before_runs(runs)
    offers = make_offers()
    found += [f"/pictures/domain/{d.name}.png" for d in offers.domains]
    found += [f"/pictures/generator/{g.name}.png" for g in offers.generators]
    for name in names:
        pages = ("", "/live", "/findings", "/people", "/export", "/report", "/export/findings.zip", "/parts")
        found += [f"/runs/{name}{page}" for page in pages]
        for line in open_run(runs / name).index()[:12]:
            found += [f"/runs/{name}/findings/{line.key}", f"/runs/{name}/findings/{line.key}/path"]
    return found


def visit(address: str) -> int:
    """Open a page and read it to its end."""
    try:
        with urllib.request.urlopen(address, timeout=300) as answer:
            return len(answer.read())
    except urllib.error.HTTPError as error:
        return -error.code


def main() -> None:
    """Print memory after each round, and how often pages were opened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        runs = chosen.runs or Path(scratch) / "runs"
        if chosen.runs is None:
            words = ["run", "demo", "--out", str(runs / "demo"), "--quiet", "--attempts", "20"]
            subprocess.run([sys.executable, "-m", "foible", *words], check=True)
        process, address = opened(runs)
        try:
            server, views, held = psutil.Process(process.pid), 0, []
            listed = paths(runs)
            begin = time.monotonic()
            for _ in range(chosen.rounds):
                for path in listed:
                    visit(address + path)
                    views += 1
                held.append(round(server.memory_info().rss / 1e6))
                print(f"{views} views: {held[-1]} MB", flush=True)
            facts = {
                "views": views,
                "megabytes": held,
                "seconds": round(time.monotonic() - begin),
                "load": os.getloadavg(),
            }
            print(json.dumps(facts))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


if __name__ == "__main__":
    main()
