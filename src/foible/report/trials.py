"""What every attempt of a run came to. The one place where comparisons meet the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from foible.metrics import Cost
from foible.names import Arm, Status
from foible.records import everyone_accepts
from foible.store import Run
from foible.store.reader import FindingLine


@dataclass(frozen=True)
class Trial:
    """An accepted origin: where it came from, whether a failure was confirmed, whether one counts, and the cost.

    `counts` is None where nobody has judged; the cost is that of the first confirmed failure, or what was spent in vain.
    """

    label: int
    source: str
    confirmed: bool
    counts: bool | None
    cost: Cost


def trials(run: Run, arm: Arm = Arm.SEARCH) -> dict[int, Trial]:
    """The accepted attempts that have ended, by number; right even while the run is being written."""
    ended = [o for o in run.outcomes(arm) if o.accepted]
    found: dict[int, list[FindingLine]] = defaultdict(list)
    for line in run.index(arm):
        found[line.attempt].append(line)
    made = {}
    for o in ended:
        mine = found[o.attempt] if o.status is Status.FOUND else []
        spent = min((line.evaluations for line in mine), default=o.evaluations)
        made[o.attempt] = Trial(o.label, o.source, bool(mine), _counts(mine), Cost(spent, bool(mine)))
    return made


def _counts(found: Sequence[FindingLine]) -> bool | None:
    """Whether one of an origin's failures is accepted by everyone, about the image and about the label."""
    judged = [line for line in found if {v.about for v in line.verdicts} >= {"image", "label"}]
    if any(everyone_accepts(line.verdicts) for line in judged):
        return True
    return False if len(judged) == len(found) else None
