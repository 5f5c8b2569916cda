"""What other rooms have to show of a run: functions under "parts" in the registry, silent where they do not fit.

Each is called with an open run and gives sections: values with a `title` and `html`, or HTML by title; none, or a StoreError, where
it has nothing to say of this run. The HTML has no scripts, and everything from users in it is escaped. It may use the colours
of `look.css` (var(--ink), var(--accent), ...).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from foible.errors import StoreError
from foible.registry import find, table
from foible.store import Run


class ReportPart(NamedTuple):
    """A section of a report, and who drew it."""

    name: str
    title: str
    html: str


def parts_of(run: Run) -> list[ReportPart]:
    """All that fits a run, in the order of the registry."""
    return [ReportPart(name, *section) for name in table("parts") for section in _sections(find("parts", name), run)]


def _sections(draw: Any, run: Run) -> Iterable[tuple[str, str]]:
    try:
        drawn = draw(run) or ()
    except StoreError:
        return []
    if isinstance(drawn, Mapping):
        return [(str(title).capitalize(), str(inside)) for title, inside in drawn.items() if str(inside).strip()]
    return [(str(section.title), str(section.html)) for section in drawn]
