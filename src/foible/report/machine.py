"""A run's summary for other programs: JSON with stable names, null where a number is unknown."""

from __future__ import annotations

from pathlib import Path

from foible.files import disk_errors
from foible.report.summary import Summary


def to_json(summary: Summary) -> str:
    """The summary as JSON; `Summary.model_validate_json` reads it back."""
    return summary.model_dump_json(indent=2) + "\n"


def write_json(summary: Summary, path: Path) -> Path:
    """Write the summary as a JSON file."""
    with disk_errors(path):
        path.write_text(to_json(summary), encoding="utf-8")
    return path
