"""On what each cell of a benchmark fails: the class whose failures count most often, and who is taken for whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from foible.benchmark.tables import Result, Table, Value
from foible.metrics import class_pairs, rate
from foible.report.trials import Trial, trials
from foible.store import Run

TOP = 3  # confusions named


def weaknesses_table(found: Sequence[Result]) -> Table:
    """On what each cell fails: its weakest class, and which class is taken for which."""
    return Table(
        "weaknesses",
        "Weaknesses",
        ("cell", "weakest class", "its failures that count", "its confirmed failures", "most frequent confusions"),
        tuple((r.cell.name, *(_weakness(r.run) if r.run else [None] * 4)) for r in found),
        "The class with the largest share of failures that count among its accepted starting images; of equals, or where "
        "nobody judged, that with the most confirmed failures, then the one that costs least. With few starting images per "
        "class the intervals are wide. Confusions: expected class, for what it is taken, how often.",
    )


def _weakness(run: Run) -> tuple[Value, Value, Value, Value]:
    """The weakest class, its shares, and the confusions."""
    by_label: dict[int, list[Trial]] = defaultdict(list)
    for trial in trials(run).values():
        by_label[trial.label].append(trial)
    weakest = max(sorted(by_label.items()), key=lambda item: _softness(item[1]), default=None)
    pairs = class_pairs(run.index())
    top = ", ".join(f"{run.classes[p.label]} for {run.classes[p.predicted]} ({p.count})" for p in pairs[:TOP])
    if weakest is None:
        return None, None, None, top or None
    label, mine = weakest
    judged = [t.counts for t in mine if t.counts is not None]
    confirmed = rate(sum(t.confirmed for t in mine), len(mine))
    return run.classes[label], rate(sum(judged), len(judged)) if judged else None, confirmed, top or None


def _softness(mine: Sequence[Trial]) -> tuple[float, float, float]:
    """By what classes are ordered: shares that count and that are confirmed, then how little a failure costs."""
    count = len(mine)
    spent = sum(t.cost.amount for t in mine)
    return sum(bool(t.counts) for t in mine) / count, sum(t.confirmed for t in mine) / count, -spent / count
