"""One side of the comparison, search or baseline, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from foible.metrics import Rate, Spread, evaluations_per_failure, spread
from foible.names import Status
from foible.records import Finding, Outcome
from foible.report.funnel import NOBODY, Stage, funnel
from foible.store.answers import Answers
from foible.store.reader import FindingLine


class ArmSummary(BaseModel):
    """One side of the comparison. Searches that ended without a failure count with all they spent."""

    model_config = ConfigDict(frozen=True)

    attempts: int
    findings: int
    funnel: tuple[Stage, ...]
    evaluations: int
    evaluations_per_failure: float | None
    evaluations_to_failure: Spread
    rounds: Spread
    latent_distance: Spread
    pixel_distance: Spread

    def stage(self, name: str) -> Rate | None:
        """The rate of one stage of the funnel; None when it was not judged."""
        return next((s.rate for s in self.funnel if s.name == name), None)


def arm_summary(
    outcomes: Sequence[Outcome], findings: Sequence[Finding], answers: Answers = NOBODY, judged: bool = False
) -> ArmSummary:
    """Summarise one arm from how its attempts ended, what it found and what people say; `judged`: its origins were."""
    accepted = [o for o in outcomes if o.accepted]
    first = first_found(findings)
    return ArmSummary(
        attempts=len(outcomes),
        findings=len(findings),
        funnel=funnel(outcomes, findings, answers, judged),
        evaluations=sum(o.evaluations for o in accepted),
        evaluations_per_failure=evaluations_per_failure(accepted),
        evaluations_to_failure=spread(
            [first.get(o.attempt, o.evaluations) for o in accepted if o.status is Status.FOUND]
        ),
        rounds=spread([o.rounds for o in accepted]),
        latent_distance=spread([f.latent_distance for f in findings]),
        pixel_distance=spread([f.pixel_distance for f in findings]),
    )


def when_found(outcomes: Sequence[Outcome], findings: Sequence[Finding] | Sequence[FindingLine]) -> list[Outcome]:
    """Outcomes as they were when the first failure was found, whatever was spent afterwards."""
    first = first_found(findings)
    return [replace(o, evaluations=first.get(o.attempt, o.evaluations)) for o in outcomes]


def first_found(findings: Sequence[Finding] | Sequence[FindingLine]) -> dict[int, int]:
    """Per attempt, what its first failure took: a search that is not ended by one goes on spending."""
    first: dict[int, int] = {}
    for finding in findings:
        first[finding.attempt] = min(finding.evaluations, first.get(finding.attempt, finding.evaluations))
    return first
