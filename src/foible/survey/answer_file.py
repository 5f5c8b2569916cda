"""A file of answers as it comes back from a browser, a mail, a spreadsheet: trusted in nothing."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from foible.errors import FoibleError, RecipeError
from foible.metrics.ratings import HIGHEST, LOWEST
from foible.store.answers import NOTHING, OTHER, person_name
from foible.survey.key import Asks

SAID: dict[Asks, tuple[str, ...]] = {"class": ("answer",), "ratings": ("first", "second")}
WORDS = {"none": NOTHING, "other": OTHER}
LARGEST = 20_000_000  # bytes


def columns(asks: Asks) -> tuple[str, ...]:
    """The first line of a file with answers of this kind."""
    return ("survey", "item", "person", *SAID[asks], "seconds", "given")


@dataclass(frozen=True)
class Row:
    """One line: what a person sees in one image of a survey, a class or two ratings in the order of the page."""

    place: str  # "file, line 3"
    asks: Asks
    survey: str
    item: str
    person: str
    said: tuple[int, ...]
    seconds: float
    given: str


def read_rows(path: Path) -> Iterator[Row]:
    """The lines of one file; the first that makes no sense ends it with an error that names the line."""
    lines = csv.reader(_text(path).splitlines(keepends=True), strict=True)
    number = 1
    try:
        asks = _kind(next(lines, []))
        for number, cells in enumerate(lines, 2):
            if cells:
                yield _row(f"'{path}', line {number}", asks, cells)
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


def _kind(header: list[str]) -> Asks:
    for asks in SAID:
        if tuple(header) == columns(asks):
            return asks
    known = " or ".join(",".join(columns(asks)) for asks in SAID)
    raise RecipeError(f"the first line is not {known}", "give the file that the survey page has downloaded")


def _row(place: str, asks: Asks, cells: list[str]) -> Row:
    names = columns(asks)
    if len(cells) != len(names):
        raise RecipeError(f"{len(cells)} values instead of {len(names)}", "the file is cut off or was edited")
    values = dict(zip(names, cells, strict=True))
    read = _answer if asks == "class" else _rating
    return Row(
        place=place,
        asks=asks,
        survey=values["survey"],
        item=values["item"],
        person=person_name(values["person"]),
        said=tuple(read(values[name]) for name in SAID[asks]),
        seconds=_seconds(values["seconds"]),
        given=_time(values["given"]),
    )


def _answer(text: str) -> int:
    if text in WORDS:
        return WORDS[text]
    if text.isascii() and text.isdecimal() and len(text) < 7:
        return int(text)
    raise RecipeError(f"answer {text[:40]!r} is neither a class number nor none or other", "ask for the file again")


def _rating(text: str) -> int:
    if text in {str(rating) for rating in range(LOWEST, HIGHEST + 1)}:
        return int(text)
    raise RecipeError(f"{text[:40]!r} is not a rating from {LOWEST} to {HIGHEST}", "ask for the file again")


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
