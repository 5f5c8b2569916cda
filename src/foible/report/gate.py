"""A gate for CI: conditions on a run's metrics under which it fails.

    check_gate(["failure_rate > 0.05", "accepted < 50"], summary.metrics)

A condition says what must *not* be. A metric that is unknown (no finding, nothing judged) trips the gate: a check that
could not be made must not look like one that was passed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from foible.errors import RecipeError, did_you_mean

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
FAILURES = {
    "failure_rate",
    "failure_rate_low",
    "failure_rate_high",
    "confirmed",
    "findings",
}  # whether they count or not
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
CONDITION = re.compile(rf"\s*([A-Za-z_]\w*)\s*(<=|>=|==|!=|<|>)\s*({NUMBER})\s*(%?)\s*", re.ASCII)


@dataclass(frozen=True)
class Condition:
    """`metric comparison bound`, for example `failure_rate > 0.05`."""

    metric: str
    comparison: str
    bound: float

    def __str__(self) -> str:
        return f"{self.metric} {self.comparison} {self.bound:g}"


@dataclass(frozen=True)
class Gate:
    """Whether a run passed, and one line per condition that says why."""

    passed: bool
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole verdict in words."""
        return "\n".join((f"gate {'passed' if self.passed else 'failed'}", *(f"  {line}" for line in self.lines)))


def parse_condition(text: str) -> Condition:
    """Read `failure_rate > 0.05` (or `> 5%`)."""
    match = CONDITION.fullmatch(text)
    if match is None:
        raise RecipeError(
            f"gate '{text}' cannot be read",
            "write a metric, a comparison (< <= > >= == !=) and a number: failure_rate > 0.05",
        )
    metric, comparison, number, sign = match.groups()
    return Condition(metric, comparison, float(number) / (100 if sign else 1))


def check_gate(conditions: str | Sequence[str], metrics: Mapping[str, float | None]) -> Gate:
    """Hold a run against the conditions under which it fails; with none, it passes."""
    texts = [conditions] if isinstance(conditions, str) else conditions
    parsed = [parse_condition(text) for text in texts]
    for condition in parsed:
        if condition.metric not in metrics:
            raise RecipeError(
                f"gate '{condition}' names an unknown metric '{condition.metric}'",
                did_you_mean(condition.metric, metrics),
            )
    results = [_held(condition, metrics) for condition in parsed]
    return Gate(not any(tripped for tripped, _ in results), tuple(line for _, line in results))


def _held(condition: Condition, metrics: Mapping[str, float | None]) -> tuple[bool, str]:
    """Whether a condition trips the gate, and the line that says so; beside failures it says how many of them count."""
    value = metrics[condition.metric]
    if value is None:
        return True, f"FAIL  {condition}: {condition.metric} is unknown in this run, which counts as failed"
    tripped = COMPARISONS[condition.comparison](value, condition.bound)
    counts, found = metrics.get("counts"), metrics.get("findings")
    beside = f" ({counts:g} of {found:g} count)" if condition.metric in FAILURES and None not in (counts, found) else ""
    return tripped, f"{'FAIL' if tripped else 'ok  '}  {condition}: {condition.metric} is {value:g}{beside}"
