"""The key of a survey: which question is which finding, and which are attention checks with a known class.

It stays in the run folder. The page knows questions by names that say nothing, so that nobody can look the answers up.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from foible.errors import RecipeError, StoreError
from foible.files import disk_errors, write_whole
from foible.records import Key
from foible.store.layout import Layout

Asks = Literal["class", "ratings"]  # which class is it, or how much is it of two


class Question(BaseModel):
    """One image of a survey: a finding by its attempt and number, or a real image by its expected class.

    Where ratings are asked for, `rated` are the two classes: that a finding came from and that it is taken for, or that
    of a real image and some other. The page asks about them in this order, or `swapped`. A `control` shows the origin of
    the finding, as the generator makes it, instead of the finding.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempt: int | None = None
    number: int = 0
    expected: int | None = None
    source: str = ""  # where the real image is from
    rated: tuple[int, int] | None = None
    swapped: bool = False
    control: bool = False

    @property
    def finding(self) -> Key | None:
        """Which finding is shown; None where it is a real image."""
        return None if self.attempt is None else Key(self.attempt, self.number)

    def turn(self, pair: tuple[int, int]) -> tuple[int, int]:
        """From the order of `rated` to that of the page, and back."""
        return (pair[1], pair[0]) if self.swapped else pair


class SurveyKey(BaseModel):
    """What a survey asked, by the names of its questions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    survey: str
    created: str
    seed: int
    order: str
    asks: Asks = "class"
    classes: tuple[str, ...]
    questions: dict[str, Question]


def save_key(layout: Layout, key: SurveyKey) -> None:
    """Write a key into the run folder, whole or not at all."""
    target = layout.surveys / f"{key.survey}.json"
    with disk_errors(target):
        layout.surveys.mkdir(exist_ok=True)
    write_whole(target, key.model_dump_json(indent=1) + "\n")


def load_keys(layout: Layout) -> dict[str, SurveyKey]:
    """All surveys that were made from a run, by name."""
    keys = {}
    for path in sorted(layout.surveys.glob("*.json")):
        try:
            key = SurveyKey.model_validate_json(path.read_text(encoding="utf-8"))
        except (ValidationError, ValueError) as error:
            raise StoreError(f"'{path}' is damaged: {error}", "restore it from a copy, or make a new survey") from error
        keys[key.survey] = key
    return keys


def key_of(layout: Layout, survey: str) -> SurveyKey:
    """The key of one survey."""
    keys = load_keys(layout)
    if survey not in keys:
        known = ", ".join(keys) or "none"
        raise RecipeError(
            f"the answers belong to survey '{survey[:40]}', which was not made from '{layout.folder}'",
            f"name the run that it was made from; surveys made here: {known}",
        )
    return keys[survey]
