"""A file of answers as it comes back from a browser, a mail, a spreadsheet: trusted in nothing."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from foible.errors import FoibleError, RecipeError
from foible.store.answers import NOTHING, OTHER, person_name

COLUMNS = ("survey", "item", "person", "answer", "seconds", "given")
WORDS = {"none": NOTHING, "other": OTHER}
LARGEST = 20_000_000  # bytes


@dataclass(frozen=True)
class Row:
    """One line: what a person sees in one image of a survey."""

    place: str  # "file, line 3"
    survey: str
    item: str
    person: str
    answer: int
    seconds: float
    given: str


def read_rows(path: Path) -> Iterator[Row]:
    """The lines of one file; the first that makes no sense ends it with an error that names the line."""
    lines = csv.reader(_text(path).splitlines(keepends=True), strict=True)
    number = 1
    try:
        header = next(lines, [])
        if tuple(header) != COLUMNS:
            raise RecipeError(
                f"the first line is not {','.join(COLUMNS)}", "give the file that the survey page has downloaded"
            )
        for number, cells in enumerate(lines, 2):
            if cells:
                yield _row(f"'{path}', line {number}", cells)
    except csv.Error as error:
        raise RecipeError(f"'{path}', line {number}: {error}", "ask for the file again, unchanged") from error
    except FoibleError as error:
        raise RecipeError(f"'{path}', line {number}: {error.message}", error.hint) from error


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise RecipeError(f"'{path}' has more than {LARGEST:,} bytes", "this is no file of answers")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecipeError(f"'{path}' is not text in UTF-8: {error.reason}", "save it as CSV in UTF-8") from error
    except OSError as error:
        raise RecipeError(f"cannot read '{path}': {error.strerror or error}", "name a file of answers") from error
    if not text.endswith("\n"):
        raise RecipeError(f"'{path}' is cut off: its last line has no end", "ask for the whole file again")
    return text


def _row(place: str, cells: list[str]) -> Row:
    if len(cells) != len(COLUMNS):
        raise RecipeError(f"{len(cells)} values instead of {len(COLUMNS)}", "the file is cut off or was edited")
    values = dict(zip(COLUMNS, cells, strict=True))
    return Row(
        place=place,
        survey=values["survey"],
        item=values["item"],
        person=person_name(values["person"]),
        answer=_answer(values["answer"]),
        seconds=_seconds(values["seconds"]),
        given=_time(values["given"]),
    )


def _answer(text: str) -> int:
    if text in WORDS:
        return WORDS[text]
    if text.isascii() and text.isdecimal() and len(text) < 7:
        return int(text)
    raise RecipeError(f"answer {text[:40]!r} is neither a class number nor none or other", "ask for the file again")


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1e7:
        raise RecipeError(f"seconds {text[:40]!r} is not a time", "ask for the file again")
    return number


def _time(text: str) -> str:
    try:
        return datetime.fromisoformat(text).isoformat(timespec="seconds")
    except ValueError:
        raise RecipeError(f"given {text[:40]!r} is not a date and time", "ask for the file again") from None
