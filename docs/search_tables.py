"""What searches by gradients cost and find, as rows of tables: from benchmarks/results.json."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from foible.metrics.rates import rate

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results.json"
Rows = list[tuple[str, ...]]


def results() -> dict[str, Any]:
    """Everything that has been measured, by benchmark."""
    figures: dict[str, Any] = json.loads(RESULTS.read_text())
    return figures


def gradients() -> Rows:
    """What each search spent on the failures that it found, generator by generator; nobody judged them."""
    rows = [("generator", "search", "starting images failed", "evaluations per failure", "steady")]
    for generator, searches in results()["gradient_searches"]["figures"].items():
        for name, row in searches.items():
            found, steady = f"{row['confirmed']} of {row['accepted']}", "{} of {}".format(*row["steady"])
            rows.append((f"`{generator}`", name, found, f"{row['evaluations_per_failure']:,}", steady))
    return rows


def diffusion() -> Rows:
    """What a failure costs where every image is made in many steps."""
    rows = [("generator", "search", "denoiser passes per failure", "processor seconds per failure")]
    for generator, searches in results()["gradient_searches"]["figures"].items():
        for name, row in searches.items():
            if passes := row.get("denoiser_passes_per_failure"):
                seconds = row["processor_seconds"] / max(1, row["findings"])
                rows.append((f"`{generator}`", name, f"{passes:,}", f"{seconds:.1f}"))
    return rows


def judged() -> Rows:
    """What each search spent on failures that count."""
    rows = [
        (
            "generator",
            "search",
            "starting images",
            "failed",
            "steady",
            "valid",
            "end with one that counts",
            "evaluations per such",
            "left by a median filter",
        )
    ]
    for generator, searches in results()["gradient_searches_judged"]["figures"].items():
        for name, row in searches.items():
            ends_so = row["origins_that_count"]
            each = round(row["evaluations"] / ends_so, 1) if ends_so else None
            share = rate(row["origins_that_count"], row["accepted"])
            ends = f"{share.count} ({share.low:.0%} to {share.high:.0%})"
            facts = (row["accepted"], row["confirmed"], row["steady"][0], row["valid"], ends)
            at_least = f"more than {row['evaluations']:,}"
            left = "{} of {}".format(*row["left_by_median"])
            rows.append((f"`{generator}`", name, *map(str, facts), f"{each:,}" if each else at_least, left))
    return rows


def speed() -> Rows:
    """Milliseconds per origin beside the published loop's."""
    rows = [("search", "starting images", "found", "ms each", "processor ms each", "times faster", "in processor time")]
    for name, row in results()["gradient_speed_origins"].items():
        if isinstance(row, dict):
            facts = (row["origins"], row["found"], row["ms"], row["cpu_ms"])
            faster = (row.get(f"times_faster_{key}", 1) for key in ("ms", "cpu_ms"))
            rows.append((name, *(f"{value:,}" for value in (*facts, *faster))))
    return rows


def counts() -> Rows:
    """Failures that count per minute beside the published loop's."""
    rows = [("search", "starting images", "count", "per minute", "per processor minute")]
    for name, row in results()["gradient_speed_counts"].items():
        if isinstance(row, dict):
            rows.append((name, *(f"{row[key]:,}" for key in ("origins", "count", "per_minute", "per_cpu_minute"))))
    return rows


def photographs() -> Rows:
    """What descent spends and finds on photographs."""
    rows = [
        (
            "class, search",
            "attempts",
            "starting images failed",
            "evaluations per failure",
            "steady",
            "median change (grey levels)",
        )
    ]
    for name, row in results()["photographs"].items():
        if isinstance(row, dict) and "accepted" in row:
            found = f"{row['confirmed']} of {row['accepted']}"
            rest = (row["evaluations_per_failure"], row["steady"], row["median_change_in_grey_levels"])
            rows.append((name, str(row["attempts"]), found, *map(str, rest)))
    return rows


SEARCH_TABLES: dict[str, Callable[[], Rows]] = {
    "gradients": gradients,
    "gradients diffusion": diffusion,
    "gradients judged": judged,
    "gradient speed": speed,
    "gradient counts": counts,
    "photographs": photographs,
}
