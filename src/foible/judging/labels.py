"""A labels file: columns `file,expected`, the class by number or name."""

from __future__ import annotations

import csv
from pathlib import Path

from foible.domains import Domain
from foible.errors import DataError, RecipeError


def read_labels(path: Path, domain: Domain) -> dict[str, int]:
    """The expected class of each file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"no labels file '{path}'", "columns: file,expected") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"labels file '{path}' cannot be read: {error}", "save it as UTF-8 text") from error
    rows = csv.DictReader(text.splitlines())
    if not {"file", "expected"} <= set(rows.fieldnames or ()):
        raise DataError(
            f"labels file '{path}' has the columns {', '.join(rows.fieldnames or ()) or 'none'}",
            "it needs file,expected",
        )
    labels: dict[str, int] = {}
    for number, row in enumerate(rows, start=2):
        file, expected = (row["file"] or "").strip(), (row["expected"] or "").strip()
        if file in labels:
            raise DataError(f"'{path}', line {number}: '{file}' comes twice", "keep one line per file")
        try:
            labels[file] = domain.class_index(expected)
        except RecipeError as error:
            raise DataError(f"'{path}', line {number}: {error.message}", error.hint) from error
    return labels
