"""Text for tables that a spreadsheet may open."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def cell(value: object) -> object:
    """A value for a csv file: text that a spreadsheet would take for a formula is marked as text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
