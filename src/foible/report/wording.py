"""Numbers and states as people read them; shared by the terminal summary and the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foible.metrics import Rate

UNKNOWN = "n/a"

STATES = {
    "complete": "Complete.",
    "running": (
        "Still running: these figures will change. Quick failures end first, so the failure rate is too high until all "
        "attempts have ended."
    ),
    "out of time": "Out of time: attempts that had not ended are missing. Go on with: foible resume {run}",
    "interrupted": "Interrupted: attempts that had not ended are missing. Go on with: foible resume {run}",
    "failed": "Stopped by an error: attempts that had not ended are missing. Go on with: foible resume {run}",
    "empty": "Not begun yet.",
}


def state_text(state: str, run: str) -> str:
    """What a run's state means for its figures, and what to do about it."""
    return STATES.get(state, f"State: {state}.").replace("{run}", run)


def per_failure(recipe: Mapping[str, Any]) -> str:
    """What evaluations are divided by: where every failure is kept, a starting image has several and counts once."""
    return "per starting image that failed" if recipe.get("keeps") == "every" else "per failure"


def count(value: float | None) -> str:
    """1234 -> "1,234"; halves keep one digit."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 100 else f"{value:,.1f}"


def decimal(value: float | None) -> str:
    """A distance or a probability: three significant digits."""
    return UNKNOWN if value is None else f"{value:#.3g}".rstrip(".")


def percent(share: float | None) -> str:
    """0.929 -> "92.9 %"; only all of them is 100 %, only none is 0 %."""
    if share is None:
        return UNKNOWN
    inside = min(max(100 * share, 0.1), 99.9) if 0 < share < 1 else 100 * share
    return f"{inside:.1f} %" if 0 < share < 1 else f"{inside:.0f} %"


def interval(rate: Rate | None) -> str:
    """The 95 % interval of a rate: "77.4–98.0 %"."""
    if rate is None or rate.low is None or rate.high is None:
        return UNKNOWN
    return f"{100 * rate.low:.1f}–{100 * rate.high:.1f} %"


def of(rate: Rate | None) -> str:
    """ "26 of 28"."""
    return UNKNOWN if rate is None else f"{rate.count:,} of {rate.total:,}"


def p_value(p: float | None) -> str:
    """ "p = 0.031", or "p < 0.001"."""
    if p is None:
        return f"p {UNKNOWN}"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def short_name(reference: str) -> str:
    """A component's name without the folders around it: "models/c.safetensors" -> "c"."""
    return reference.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].removesuffix(".safetensors") or reference


def plural(number: int, one: str, many: str = "") -> str:
    """ "1 failure", "2 failures"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
