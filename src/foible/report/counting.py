"""The failures that count: from how many origins, at what cost, beside the baseline, and how far the judge can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from foible.metrics import Paired, Rate, evaluations_per_failure, paired, rate
from foible.names import Status
from foible.records import Finding, Outcome
from foible.report.wording import percent
from foible.zoo import entries

ERRORS = {
    "real_called_invalid": "of real images it calls {} invalid",
    "invalid_called_valid": "of bad ones near the line {} valid",
    "runner_up_called_kept": "of the likeliest wrong labels {} kept",
}


class Counting(BaseModel):
    """What a run comes to when only failures that count are failures.

    `origins` are the accepted ones that led to such a failure; unsolved origins are part of the cost.
    """

    model_config = ConfigDict(frozen=True)

    origins: Rate
    evaluations_per_failure: float | None
    comparison: Paired | None


def counting(
    outcomes: Sequence[Outcome],
    findings: Sequence[Finding],
    rivals: Sequence[Outcome],
    rival_findings: Sequence[Finding],
) -> Counting | None:
    """The run seen so; None where a failure was not judged, about the image and about the label."""
    if not findings or not all(
        {"image", "label"} <= {v.about for v in f.verdicts} for f in (*findings, *rival_findings)
    ):
        return None
    ours, theirs = _only(outcomes, findings), _only(rivals, rival_findings)
    accepted = [o for o in ours if o.accepted]
    return Counting(
        origins=rate(sum(o.status is Status.FOUND for o in accepted), len(accepted)),
        evaluations_per_failure=evaluations_per_failure(accepted),
        comparison=paired(ours, theirs) if rivals else None,
    )


def _only(outcomes: Sequence[Outcome], findings: Sequence[Finding]) -> list[Outcome]:
    """Outcomes in which a failure that does not count is none."""
    good = {f.attempt for f in findings if f.counts}
    return [
        replace(o, status=Status.HELD) if o.status is Status.FOUND and o.attempt not in good else o for o in outcomes
    ]


def known_error(digests: Mapping[str, str]) -> str:
    """How often the judge of a run errs, by its card, in a sentence; nothing where it has none."""
    used = set(digests.values())
    card = next((e for e in entries().values() if e.family == "judge" and e.sha256 in used), None)
    said = (
        [text.format(percent(card.figures[name])) for name, text in ERRORS.items() if name in card.figures]
        if card
        else []
    )
    return (
        f"The judge errs too: {', '.join(said)} (held-out images, all its readers present; docs/judge.md compares it with people)."
        if said
        else ""
    )
