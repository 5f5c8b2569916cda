"""The page of a difference: matrix, triples, who is right, growth beside the baselines; one HTML file that needs nothing else.

Each part is a function of the run alone, so that other pages can show it too: `parts(run)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foible.differing.stored import read_facts
from foible.errors import StoreError
from foible.files import write_whole
from foible.images import as_pixels
from foible.metrics import ClassPair
from foible.records import Finding
from foible.report.curve import Tick
from foible.report.gallery import choose, picture_uri
from foible.report.page import confusion_matrix, environment
from foible.report.wording import percent
from foible.store import Run
from foible.store.pictures import decoded
from foible.store.pictures import pictures as stored_pictures
from foible.types import RIVAL, TESTED

if TYPE_CHECKING:
    from jinja2 import Environment

MOST = 120  # triples on one page
PAGE = "difference.html"
TEMPLATE = "difference.html.jinja"
PARTS = ("figures", "matrix", "categories", "growth", "wins", "triples")


@dataclass(frozen=True)
class Triple:
    """An image with what A and what B say of it, and what is expected (None: unknown)."""

    key: str
    picture: str | None
    a: str
    b: str
    sure_a: str
    sure_b: str
    expected: str | None
    right: str


@dataclass(frozen=True)
class Line:
    """One curve as SVG points in a box of 100 x 100."""

    name: str
    points: str
    found: int
    queries: int


@dataclass(frozen=True)
class GrowthChart:
    """Distinct disagreements over queries, with the marks of both axes."""

    lines: tuple[Line, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def write_difference_page(run: Run, path: Path | None = None) -> Path:
    """Write the page of a run that looked for disagreements; into its folder unless told otherwise."""
    target = path or run.layout.folder / PAGE
    write_whole(target, _environment().get_template(TEMPLATE).render(**_context(run)))
    return target


def parts(run: Run) -> dict[str, str]:
    """The parts of the page as HTML, by name: figures, matrix, categories, growth, wins, triples."""
    module = _environment().get_template(TEMPLATE).make_module(_context(run))
    return {name: str(getattr(module, name)()) for name in PARTS}


def growth_chart(curves: list[dict[str, Any]]) -> GrowthChart:
    """The curves drawn on axes that reach as far as the search did."""
    reach = max((c["queries"] for c in curves[:1]), default=0) or 1
    highest = max((sum(at <= reach for at in c["found_at"]) for c in curves), default=0) or 1
    lines = tuple(_line(c, reach, highest) for c in curves)
    across = tuple(Tick(100 * share, f"{round(share * reach):,}") for share in (0, 0.25, 0.5, 0.75, 1))
    up = tuple(Tick(100 - 100 * share, f"{round(share * highest):,}") for share in (0, 0.5, 1))
    return GrowthChart(lines, across, up)


def triples(run: Run, facts: Mapping[str, Any]) -> list[Triple]:
    """Disagreements to look at, one of each label pair in turn."""
    expected = {f.key: e for f, e in zip(run.findings(), facts["expected"], strict=False)}
    shown = []
    for key, _, _ in choose([(f.key, f.predicted, said(f, RIVAL)) for f in run.findings()], MOST):
        shown.append(_triple(run, run.finding(key), expected.get(key, -1)))
    return shown


def said(finding: Finding, role: str) -> int:
    """The class that a role names."""
    chances = finding.after[role]
    return max(range(len(chances)), key=chances.__getitem__)


def _triple(run: Run, finding: Finding, expected: int) -> Triple:
    stored = stored_pictures(run, finding)
    picture = None if stored.failure is None else picture_uri(as_pixels(decoded(run, stored.failure)))
    first, second = said(finding, TESTED), said(finding, RIVAL)
    right = "A" if expected == first else "B" if expected == second else "neither" if expected >= 0 else "unknown"
    return Triple(
        str(finding.key),
        picture,
        run.classes[first],
        run.classes[second],
        percent(finding.after[TESTED][first]),
        percent(finding.after[RIVAL][second]),
        run.classes[expected] if expected >= 0 else None,
        right,
    )


def _line(curve: Mapping[str, Any], reach: int, highest: int) -> Line:
    points, height = ["0,100"], 100.0
    inside = [at for at in curve["found_at"] if at <= reach]
    for number, at in enumerate(inside, 1):
        points.append(f"{100 * at / reach:.2f},{height:.2f}")
        height = 100 - 100 * number / highest
        points.append(f"{100 * at / reach:.2f},{height:.2f}")
    points.append(f"{100 * min(1.0, curve['queries'] / reach):.2f},{height:.2f}")
    return Line(curve["name"], " ".join(points), len(inside), curve["queries"])


def _context(run: Run) -> dict[str, Any]:
    facts = read_facts(run)
    if facts is None:
        raise StoreError(
            f"'{run.layout.folder}' did not look for differences between models", "make such a run: foible diff A B"
        )
    pairs = tuple(ClassPair(a, b, n) for a, b, n in sorted(facts["pairs"], key=lambda p: -p[2]))
    return {
        "facts": facts,
        "shape": run.manifest.shape,
        "table": confusion_matrix(pairs),
        "listed": pairs[:40],
        "chart": growth_chart(facts["curves"]),
        "cards": triples(run, facts),
        "total": len(facts["expected"]),
    }


def _environment() -> Environment:
    return environment(Path(__file__).parent)
