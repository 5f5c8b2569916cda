"""Images between two classes: from both sides to the border, those that lie on it, are valid, and differ from each other.

Each is a finding of an ordinary run that starts from one class of a pair and aims at the other. Chosen are those whose two
most probable classes are the pair, with a gap of at most `most_gap`, that the judge takes for images of the domain (whether
the label is kept is the question such an image asks, so that it is not asked of the judge). Of these the set is built by
always adding the one farthest, in pixels, from all chosen before; the first is the one with the smallest gap.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import torch

from foible.errors import RecipeError, did_you_mean
from foible.records import Finding, everyone_accepts
from foible.store import Run
from foible.store.layout import inside

COLUMNS = ("file", "from", "towards", "gap", "p_from", "p_towards", "l1", "l2", "changed", "attempt", "evaluations")


def class_pair(names: Sequence[str], classes: tuple[str, ...]) -> tuple[int, int]:
    """The two classes of a pair by name."""
    for name in names:
        if name not in classes:
            raise RecipeError(f"there is no class '{name}'", did_you_mean(name, classes))
    if len(names) != 2 or names[0] == names[1]:
        raise RecipeError(
            f"a pair is two different classes, not {' and '.join(repr(n) for n in names)}", "for example --pair 4 9"
        )
    return classes.index(names[0]), classes.index(names[1])


def all_pairs(classes: tuple[str, ...]) -> list[tuple[int, int]]:
    """Every pair of two classes once."""
    return list(combinations(range(len(classes)), 2))


def between(run: Run, pair: tuple[int, int], most_gap: float) -> list[Finding]:
    """The findings that lie between these two classes, valid where there is a judge, the smallest gap first."""
    fitting = [
        f
        for f in run.findings()
        if {f.label, f.target} == set(pair)
        and {int(f.measures["first"]), int(f.measures["second"])} == set(pair)
        and f.measures["gap"] <= most_gap
        and everyone_accepts(f.verdicts, "image")
    ]
    return sorted(fitting, key=lambda f: (f.measures["gap"], f.attempt))


def diverse(run: Run, findings: Sequence[Finding], count: int) -> list[Finding]:
    """Up to `count` of them, each as far from those before as can be; no two are the same image."""
    if not findings:
        return []
    images = torch.stack([run.image(f.image) for f in findings]).flatten(1)
    chosen = [0]
    nearest = torch.linalg.vector_norm(images - images[0], dim=1)
    while len(chosen) < min(count, len(findings)) and float(nearest.max()) > 0:
        chosen.append(int(nearest.argmax()))
        nearest = torch.minimum(nearest, torch.linalg.vector_norm(images - images[chosen[-1]], dim=1))
    return [findings[i] for i in chosen]


def write_set(run: Run, findings: Sequence[Finding], folder: Path) -> Path:
    """PNG files, named by pair, gap and attempt, and a table of them; gives the table."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for finding in findings:
        names = run.classes[finding.label], run.classes[finding.target]
        gap = finding.measures["gap"]
        file = f"{finding.label}-{finding.target}-gap{gap:.4f}-{finding.attempt:06d}.png"
        (folder / file).write_bytes(inside(run.layout.folder, finding.image).read_bytes())
        shares = (finding.probabilities[i] for i in (finding.label, finding.target))
        measures = (finding.measures["l1"], finding.measures["l2"], int(finding.measures["changed"]))
        rows.append([file, *names, gap, *shares, *measures, finding.attempt, finding.evaluations])
    table = folder / "table.csv"
    with table.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    return table
