"""The words that the rooms share. They need no torch, so that whatever only reads a run starts at once."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How the search from one origin ended."""

    REJECTED = "rejected"  # the classifier already gets the origin wrong: set apart, never searched
    REFUSED = "refused"  # the validators do not take the origin for an image of its class: set apart as well
    HELD = (
        "held"  # the budget is spent and no failure was seen (where only those that count end a search: none of them)
    )
    LOST = "lost"  # failures were seen, none survived rounding to an 8-bit image and a second look
    FOUND = "found"  # a failure that survives both


class Arm(StrEnum):
    """The side of the comparison an outcome belongs to."""

    SEARCH = "search"
    BASELINE = "baseline"


TESTED = "tested"
"""The role of the classifier under test; the others are named in the recipe."""

RIVAL = "rival"
"""The role of the one it is compared with."""
