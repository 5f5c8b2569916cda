"""The escape matrix for the terminal, for other programs and as a page of its own."""

from __future__ import annotations

import base64
import html
from typing import Any

from foible.borders.escapes import Cell, Escapes
from foible.store import Run
from foible.store.layout import inside

STYLE = (
    "body{font:14px system-ui;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:4px;"
    "text-align:center;min-width:5em}img{width:42px;image-rendering:pixelated;display:block;margin:2px auto}"
    "small{color:#444;display:block}"
)


def as_text(matrix: Escapes) -> str:
    """Shares in per cent, one row per class; then the interval, the count and the distance of every pair."""
    labels = sorted({label for label, _ in matrix.cells})
    targets = sorted({target for _, target in matrix.cells})
    names = [matrix.classes[t] for t in targets]
    width = max(6, *(len(n) for n in matrix.classes))
    lines = [f"escapes {matrix.effort}, per cent of accepted origins (row: class, column: target)"]
    lines.append(" ".join([" " * width, *(n.rjust(width) for n in names)]))
    for label in labels:
        cells = [matrix.cells.get((label, target)) for target in targets]
        lines.append(" ".join([matrix.classes[label].rjust(width), *(_share(c).rjust(width) for c in cells)]))
    lines += ["", f"pair: escaped, 95 % interval, median {matrix.unit} distance"]
    lines += [_line(matrix, cell) for cell in matrix.cells.values()]
    return "\n".join(lines)


def as_facts(matrix: Escapes) -> dict[str, Any]:
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
    return {"effort": matrix.effort, "distance": matrix.unit, "cells": cells}


def as_page(matrix: Escapes, run: Run) -> str:
    """One HTML file with everything in it: the heat map with an example in every cell."""
    labels = sorted({label for label, _ in matrix.cells})
    targets = sorted({target for _, target in matrix.cells})
    head = "".join(f"<th scope='col'>{html.escape(matrix.classes[t])}</th>" for t in targets)
    rows = [
        f"<tr><th scope='row'>{html.escape(matrix.classes[label])}</th>"
        + "".join(_box(matrix, matrix.cells.get((label, target)), run) for target in targets)
        + "</tr>"
        for label in labels
    ]
    title = f"Escapes of {html.escape(run.name)}"
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}</title><style>{STYLE}</style>"
        f"<h1>{title}</h1><p>Share of accepted origins of a class (row) from which another (column) was reached "
        f"{html.escape(matrix.effort)}, with its 95 % interval, the median {matrix.unit} distance and the nearest escape.</p>"
        f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table></html>\n"
    )


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
    shade = f"background:rgba(214,90,49,{0.7 * cell.escaped.share:.2f})"
    return (
        f"<td style='{shade}'>{picture}{cell.escaped.share:.0%}<small>{low:.0%} to {high:.0%} of "
        f"{cell.escaped.total}</small>{distance}</td>"
    )


def _share(cell: Cell | None) -> str:
    return "." if cell is None or cell.escaped.share is None else f"{100 * cell.escaped.share:.0f}"


def _line(matrix: Escapes, cell: Cell) -> str:
    names = f"{matrix.classes[cell.label]} to {matrix.classes[cell.target]}"
    low, high = (100 * (x or 0.0) for x in (cell.escaped.low, cell.escaped.high))
    distance = "-" if cell.distance is None else f"{cell.distance:.2f}"
    return f"{names}: {cell.escaped.count} of {cell.escaped.total}, {low:.0f} to {high:.0f} %, {distance}"
