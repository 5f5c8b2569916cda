"""The page of a coverage measurement: one HTML file that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from foible.files import write_whole
from foible.measuring import text
from foible.measuring.prioritise import Orders
from foible.measuring.result import LayerMap, Measurement
from foible.report.page import environment

WIDEST = 1024  # cells drawn for a layer; wider ones are drawn in groups of units


@dataclass(frozen=True)
class UnitCell:
    """One or several neighbouring units of a layer's map."""

    title: str
    heat: float
    kind: str


def write_coverage_page(measurement: Measurement, orders: Orders | None, path: Path) -> Path:
    """Write the page."""
    content = (
        environment(Path(__file__).parent)
        .get_template("coverage.html.jinja")
        .render(
            m=measurement,
            suite=measurement.suites[0],
            text=text,
            suites=text.suite_table(measurement),
            layers=text.layer_table(measurement, measurement.suites[0]),
            orders=None if orders is None else text.order_table(orders),
            failing=None if orders is None else orders.failing,
            maps=[(layer, cells(layer)) for layer in measurement.maps],
        )
    )
    write_whole(path, content)
    return path


def cells(layer: LayerMap) -> list[UnitCell]:
    """The units of a layer as cells; in a layer that is too wide, some units share one."""
    group = -(-len(layer.visited) // WIDEST)
    never, constant = set(layer.never), set(layer.constant)
    drawn = []
    for start in range(0, len(layer.visited), group):
        units = range(start, min(start + group, len(layer.visited)))
        heat = sum(layer.visited[u] for u in units) / len(units)
        kind = "constant" if all(u in constant for u in units) else "never" if all(u in never for u in units) else ""
        name = f"unit {start}" if group == 1 else f"units {start} to {units[-1]}"
        said = {"constant": "never varied in the profile", "never": "never stood out in its layer; "}.get(kind, "")
        drawn.append(
            UnitCell(f"{name}: {said}" + ("" if kind == "constant" else f"{100 * heat:.0f} % of its range"), heat, kind)
        )
    return drawn
