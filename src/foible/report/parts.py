"""What other rooms have to show of a run: each a function under "parts" in the registry, silent where it does not fit.

A part is called with an open run and gives a title and HTML without scripts, everything from users escaped; or None where
it has nothing to say of this run. It may use the colours of `look.css` (var(--ink), var(--accent), ...).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from foible.errors import FoibleError
from foible.registry import find, table
from foible.store import Run

Draws = Callable[[Run], tuple[str, str] | None]


class ReportPart(NamedTuple):
    """A section of a report."""

    name: str
    title: str
    html: str


def parts_of(run: Run) -> list[ReportPart]:
    """All that fits a run, in the order of the registry; what fails says why in its place."""
    found = []
    for name in table("parts"):
        try:
            drawn = find("parts", name)(run)
        except FoibleError as error:
            found.append(ReportPart(name, name, f"<p>{_escaped(error.message)}</p>"))
            continue
        if drawn is not None:
            found.append(ReportPart(name, *drawn))
    return found


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)
