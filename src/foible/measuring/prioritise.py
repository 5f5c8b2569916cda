"""In which order to look at a suite: by each criterion's coverage, and by the model's own uncertainty beside it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foible.coverage import Criterion, Scope
from foible.coverage.cells import Cells
from foible.coverage.changes import SS
from foible.coverage.order import Numbers, apfd, by_addition, by_score, deepgini
from foible.coverage.surprise import Surprise
from foible.errors import RecipeError
from foible.files import replacing
from foible.measuring.measure import watched
from foible.measuring.suites import Suite

CAP_MB = 2048


@dataclass(frozen=True)
class Order:
    """An order of a suite's images, how soon it brings their failures, and how many of the first cover all that is covered."""

    name: str
    places: Tensor  # (N,)
    apfd: float | None
    enough: int | None = None


@dataclass(frozen=True)
class Orders:
    """All orders of a suite; `failing` is None where no image has a label."""

    files: tuple[str, ...]
    failing: int | None
    orders: tuple[Order, ...]


def prioritised(classifier: Any, suite: Suite, criteria: Mapping[str, Criterion], scope: Scope) -> Orders:
    """Orders of a suite by every criterion whose cells belong to single inputs, and by DeepGini.

    Coverage is that of the suite alone: what each image adds to those before it.
    """
    cells = {n: c for n, c in criteria.items() if isinstance(c, Cells) and not isinstance(c, SS)}
    files, wrong, labelled, gini = list[str](), list[Tensor](), 0, list[Tensor]()
    hits: dict[str, list[Numbers]] = {name: [] for name in cells}
    scores: dict[str, list[Tensor]] = {name: [] for name in cells}
    held = 0
    for seen in watched(classifier, suite, scope):
        files += seen.part.names
        wrong.append(seen.wrong)
        labelled += int((seen.part.labels >= 0).sum())
        gini.append(deepgini(seen.probabilities))
        for name, criterion in cells.items():
            notes = criterion.note(seen.batch)
            found = criterion.hits(notes)
            hits[name] += found
            held += sum(row.nbytes for row in found)
            if isinstance(criterion, Surprise):
                scores[name].append(notes["scores"])
        if held > CAP_MB << 20:
            raise RecipeError(
                f"ordering this suite takes more than {CAP_MB:,} MB",
                "choose fewer criteria, a smaller k or fewer images",
            )
    fails = torch.cat(wrong) if labelled else None
    orders = [_order("deepgini", by_score(torch.cat(gini)), fails)]
    for name in cells:
        total = torch.cat(scores[name]) if scores[name] else torch.tensor([len(row) for row in hits[name]])
        orders.append(_order(f"{name} total", by_score(total), fails))
        added, enough = by_addition(hits[name])
        orders.append(_order(f"{name} added", added, fails, enough))
    return Orders(tuple(files), None if fails is None else int(fails.sum()), tuple(orders))


def _order(name: str, places: Tensor, fails: Tensor | None, enough: int | None = None) -> Order:
    found = apfd(places, fails) if fails is not None and bool(fails.any()) else None
    return Order(name, places, found, enough)


def write_orders(orders: Orders, path: Path) -> Path:
    """Write a csv: one row for each place, one column for each order, each cell the name of an image."""
    with replacing(path) as partial, partial.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow(["place", *(order.name for order in orders.orders)])
        columns = [[orders.files[i] for i in order.places.tolist()] for order in orders.orders]
        writer.writerows([place, *row] for place, row in enumerate(zip(*columns, strict=True), 1))
    return path
