"""The escape matrix for the terminal, for other programs and as a page of its own."""

from __future__ import annotations

import base64
import html
from typing import Any

from foible.borders.confusion import Confusion
from foible.borders.escapes import Cell, Escapes
from foible.store import Run
from foible.store.layout import inside

STYLE = "body{font:14px system-ui;margin:2em}"
PART_STYLE = (
    ".borders table{border-collapse:collapse;width:auto}.borders td,.borders th{border:1px solid #8886;padding:4px 2px;"
    "text-align:center;min-width:4.2em;white-space:nowrap}.borders img{width:42px;image-rendering:pixelated;"
    "display:block;margin:2px auto}.borders small{color:inherit;font-size:12px;display:block}.borders{overflow-x:auto}"
)
WARM, COOL = "214,90,49", "49,110,214"


def as_text(matrix: Escapes, confused: Confusion | None = None) -> str:
    """Shares in per cent, one row per class; the confusions beside; then interval, count and distance of every pair."""
    labels = sorted({label for label, _ in matrix.cells})
    targets = sorted({target for _, target in matrix.cells})
    names = [matrix.classes[t] for t in targets]
    width = max(6, *(len(n) for n in matrix.classes))
    lines = [f"escapes {matrix.effort}, per cent of accepted starting images (row: class, column: target)"]
    lines.append(" ".join([" " * width, *(n.rjust(width) for n in names)]))
    for label in labels:
        cells = [matrix.cells.get((label, target)) for target in targets]
        lines.append(" ".join([matrix.classes[label].rjust(width), *(_share(c).rjust(width) for c in cells)]))
    if confused:
        lines += ["", *_confusion_lines(matrix.classes, confused, width)]
    lines += ["", f"pair: escaped, 95 % interval, median {matrix.unit} distance"]
    lines += [_line(matrix, cell) for cell in matrix.cells.values()]
    return "\n".join(lines)


def _confusion_lines(classes: tuple[str, ...], confused: Confusion, width: int) -> list[str]:
    lines = [f"confusions on {confused.total:,} images of {confused.source}, per cent (row: class, column: answer)"]
    lines.append(" ".join([" " * width, *(n.rjust(width) for n in classes)]))
    for label, name in enumerate(classes):
        shares = [f"{100 * confused.share(label, p):.1f}".rjust(width) for p in range(len(classes))]
        lines.append(" ".join([name.rjust(width), *shares]))
    return lines


def as_facts(matrix: Escapes, confused: Confusion | None = None) -> dict[str, Any]:
    """The same as plain values."""
    cells = [
        {
            "class": matrix.classes[c.label],
            "target": matrix.classes[c.target],
            "escaped": c.escaped.count,
            "origins": c.escaped.total,
            "low": c.escaped.low,
            "high": c.escaped.high,
            "median_distance": c.distance,
            "example": c.example,
        }
        for c in matrix.cells.values()
    ]
    beside = {"confusion": {"source": confused.source, "counts": confused.counts}} if confused else {}
    return {"effort": matrix.effort, "distance": matrix.unit, "cells": cells, **beside}


def as_page(matrix: Escapes, run: Run, confused: Confusion | None = None) -> str:
    """One HTML file with everything in it: the heat map with an example in every cell, the confusions below it."""
    title = f"Escapes of {html.escape(run.name)}"
    beside = f"<h2>On real images</h2>{confusion_map(matrix.classes, confused)}" if confused else ""
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}</title><style>{STYLE}</style>"
        f"<h1>{title}</h1>{heat_map(matrix, run)}{beside}</html>\n"
    )


def heat_map(matrix: Escapes, run: Run) -> str:
    """The escape matrix as a part of a page: an example, the share, its interval and the distance in every cell."""
    labels = sorted({label for label, _ in matrix.cells})
    targets = sorted({target for _, target in matrix.cells})
    rows = [(label, [_box(matrix, matrix.cells.get((label, target)), run) for target in targets]) for label in labels]
    about = (
        "Share of accepted starting images of a class (row) from which another (column) was reached "
        f"{html.escape(matrix.effort)}, with its 95 % interval, the median {matrix.unit} distance and the nearest escape. "
        f"{_origins(matrix)} starting images in a cell."
    )
    return _table(matrix.classes, targets, rows, about)


def confusion_map(classes: tuple[str, ...], confused: Confusion) -> str:
    """The ordinary confusion matrix as a part of a page."""
    every = range(len(classes))
    rows = [(label, [_confused_box(confused, label, predicted) for predicted in every]) for label in every]
    about = (
        f"Per cent of {confused.total:,} images of {html.escape(confused.source)} that the classifier takes for a class "
        "(column), by the class they are of (row)."
    )
    return _table(classes, list(every), rows, about)


def _table(classes: tuple[str, ...], columns: list[int], rows: list[tuple[int, list[str]]], about: str) -> str:
    head = "".join(f"<th scope='col'>{html.escape(classes[c])}</th>" for c in columns)
    body = "".join(
        f"<tr><th scope='row'>{html.escape(classes[label])}</th>{''.join(boxes)}</tr>" for label, boxes in rows
    )
    return (
        f"<div class='borders'><style>{PART_STYLE}</style><p>{about}</p>"
        f"<table><tr><th></th>{head}</tr>{body}</table></div>"
    )


def _confused_box(confused: Confusion, label: int, predicted: int) -> str:
    share = confused.share(label, predicted)
    colour = COOL if label == predicted else WARM
    heat = 0.25 * share if label == predicted else min(0.7, 10 * share)  # a confusion of 7 % is a dark one
    return f"<td style='background:rgba({colour},{heat:.2f})'>{100 * share:.1f}</td>"


def _box(matrix: Escapes, cell: Cell | None, run: Run) -> str:
    if cell is None or cell.escaped.share is None:
        return "<td></td>"
    picture = ""
    if cell.example:
        content = base64.b64encode(inside(run.layout.folder, cell.example).read_bytes()).decode()
        alt = html.escape(f"{matrix.classes[cell.label]} taken for {matrix.classes[cell.target]}", quote=True)
        picture = f"<img alt='{alt}' src='data:image/png;base64,{content}'>"
    low, high = cell.escaped.low or 0.0, cell.escaped.high or 0.0
    distance = f"<small>{cell.distance:.1f}</small>" if cell.distance is not None else ""
    shade = f"background:rgba({WARM},{0.7 * cell.escaped.share:.2f})"
    return (
        f"<td style='{shade}' title='{cell.escaped.count} of {cell.escaped.total}'>{picture}{cell.escaped.share:.0%}"
        f"<small>{100 * low:.0f}–{100 * high:.0f} %</small>{distance}</td>"
    )


def _origins(matrix: Escapes) -> str:
    totals = [cell.escaped.total for cell in matrix.cells.values()]
    return f"{min(totals)}" if min(totals) == max(totals) else f"{min(totals)} to {max(totals)}"


def _share(cell: Cell | None) -> str:
    return "." if cell is None or cell.escaped.share is None else f"{100 * cell.escaped.share:.0f}"


def _line(matrix: Escapes, cell: Cell) -> str:
    names = f"{matrix.classes[cell.label]} to {matrix.classes[cell.target]}"
    low, high = (100 * (x or 0.0) for x in (cell.escaped.low, cell.escaped.high))
    distance = "-" if cell.distance is None else f"{cell.distance:.2f}"
    return f"{names}: {cell.escaped.count} of {cell.escaped.total}, {low:.0f} to {high:.0f} %, {distance}"
