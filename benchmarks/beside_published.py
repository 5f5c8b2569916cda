"""Tables II and III of a folder made by `foible benchmark gift`, beside the published ones, as Markdown.

    python benchmarks/beside_published.py runs/gift

Cells may have been run with different numbers of attempts; those without a complete run are left out.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from foible.benchmark import load_matrix
from foible.benchmark.formats import text
from foible.benchmark.tables import Value, generators_table, results, results_table

PUBLISHED = json.loads((Path(__file__).parent / "gift_published.json").read_text())
SHOWN = (
    "accepted starting images",
    "confirmed failures",
    "iterations",
    "steady",
    "valid",
    "label kept, of valid",
    "failures that count",
)


def pipe(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def result_lines(folder: Path) -> list[str]:
    found = [r for r in results(load_matrix("gift"), folder) if r.run is not None and r.run.state == "complete"]
    table = results_table(found)
    places = [table.headings.index(heading) for heading in SHOWN]
    lines = [pipe(["cell", *SHOWN]), pipe(["---"] * (len(SHOWN) + 1))]
    for row in table.rows:
        cell = str(row[0]).removeprefix("gift-")
        lines.append(pipe([cell, *(text(row[k]) for k in places)]))
        if published := PUBLISHED["results"].get(cell):
            viable, failures, iterations, valid, kept, count = published
            said = [f"{viable} of 100", f"{failures} %", f"{iterations}", "", f"{valid} %", f"{kept} %"]
            lines.append(pipe(["*published*", *said, f"{count} of {viable}, without steadiness"]))
    return lines


def generator_lines() -> list[str]:
    matrix = load_matrix("gift", only=["mnist-*", "fashion-*", "svhn-*", "cifar10-*", "low"])
    table = generators_table(matrix)
    headings = [*table.headings[1:], "published latent size", "published ms"]
    lines = [pipe(headings), pipe(["---"] * len(headings))]
    for row in table.rows:
        published: list[Value] = PUBLISHED["generators"].get(row[1], [None, None])
        lines.append(pipe([text(v) for v in (*row[1:], *published)]))
    return lines


if __name__ == "__main__":
    print("\n".join([*generator_lines(), "", *result_lines(Path(sys.argv[1]))]))
