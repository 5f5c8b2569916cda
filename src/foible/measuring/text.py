"""A measurement for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from foible.measuring.prioritise import Orders
from foible.measuring.result import Covered, Measurement, SuiteFigures
from foible.report import wording

Row = tuple[str, ...]


def figure(covered: Covered, value: float | None) -> str:
    """A value as what it is: a share, a count, or a spread that has no top."""
    if value is None:
        return wording.UNKNOWN if covered.measure == "share" else ""
    if covered.measure == "count":
        return f"{value:,.0f}"
    return wording.percent(value) if covered.measure == "share" else f"{value:.4g}"


USUAL_SETTINGS = {
    "compat": "none",
    "wide_only": False,
    "relaxed": 0.0,
    "factor": 2.0,
    "least_variance": 1e-5,
    "most_units": 300,
}
UNSAID = {"cap_mb", "examples", "compared"}  # they bound memory and time; the notes say when they did


def settings_text(covered: Covered) -> str:
    """The settings that say what was measured; all of them are in coverage.json."""
    shown = {k: v for k, v in covered.settings.items() if k not in UNSAID and v is not None}
    shown = {k: v for k, v in shown.items() if USUAL_SETTINGS.get(k) != v or k not in USUAL_SETTINGS}
    return ", ".join(f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in shown.items())


def suite_table(measurement: Measurement, short: bool = False) -> tuple[Row, list[Row]]:
    """Head and rows: each criterion, by its title or its short name, with its value for every suite."""
    head = ("coverage", "measured with", *(s.name for s in measurement.suites), "constant", "infeasible")
    rows: list[Row] = []
    for number, first in enumerate(measurement.suites[0].criteria):
        values = [suite.criteria[number] for suite in measurement.suites]
        apart = (f"{first.constant:,}" if first.constant else "", f"{first.infeasible:,}" if first.infeasible else "")
        name = first.name if short else first.title
        rows.append((name, settings_text(first), *(figure(v, v.value) for v in values), *apart))
    return head, rows


def layer_table(measurement: Measurement, suite: SuiteFigures) -> tuple[Row, list[Row]]:
    """Head and rows: each layer with what every criterion says of it; the other way round where layers are few."""
    shown = [c for c in suite.criteria if any(v is not None for v in c.per_layer)]
    columns: list[Row] = [("layer", *measurement.layers), ("units", *(f"{w:,}" for w in measurement.widths))]
    columns += [(c.name, *("" if v is None else figure(c, v) for v in c.per_layer)) for c in shown]
    if len(measurement.layers) < len(shown):
        return columns[0], columns[1:]
    return tuple(c[0] for c in columns), list(zip(*(c[1:] for c in columns), strict=True))


def beside(suite: SuiteFigures) -> str:
    """What belongs beside coverage: accuracy and uncertainty."""
    right = (
        "no labels"
        if suite.accuracy is None
        else f"accuracy {wording.percent(suite.accuracy.share)} ({wording.of(suite.accuracy)})"
    )
    return f"{suite.name}: {suite.source}; {right}; mean uncertainty (Gini) {suite.uncertainty:.4f}"


def order_table(orders: Orders) -> tuple[Row, list[Row]]:
    """Head and rows: each order, how soon failures come, and how many images cover all that is covered."""
    head = ("order", "APFD", "enough")
    rows: Sequence[Row] = [
        (
            o.name,
            wording.UNKNOWN if o.apfd is None else f"{o.apfd:.3f}",
            "" if o.enough is None else f"{o.enough:,} of {len(o.places):,}",
        )
        for o in sorted(orders.orders, key=lambda o: -(o.apfd or 0))
    ]
    return head, list(rows)
