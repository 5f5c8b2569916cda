"""What a run says, as one value: every report is drawn from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch

from foible.metrics import ClassPair, Paired, Rate, class_pairs, paired, rate, spread
from foible.names import Arm, Status
from foible.records import Finding, Outcome
from foible.report.arms import ArmSummary, arm_summary, first_found
from foible.report.counting import Counting, counting, known_error
from foible.report.facts import RunFacts, run_facts
from foible.report.flat import flat_metrics
from foible.report.frozen import Frozen
from foible.report.headline import headline
from foible.store import Run
from foible.store.answers import read_answers


class ClassRow(Frozen):
    """How the attempts from one class went."""

    label: int
    name: str
    attempts: int
    accepted: int
    confirmed: Rate
    median_evaluations: float | None


class Summary(Frozen):
    """A run in numbers. `metrics` holds the ones a gate can refer to, None where unknown.

    `counting` is the run when only failures that count are failures; `known_error` says how often their judge errs.
    """

    facts: RunFacts
    headline: str
    search: ArmSummary
    baseline: ArmSummary | None
    comparison: Paired | None
    counting: Counting | None
    known_error: str
    classes: tuple[ClassRow, ...]
    confusions: tuple[ClassPair, ...]
    metrics: dict[str, int | float | None]

    @property
    def key_stage(self) -> str:
        """The stage of the funnel that matters: the failures that count, or the confirmed ones where nobody judged."""
        return "counts" if self.search.stage("counts") else "confirmed"


def summarise(run: Run) -> Summary:
    """Summarise a run, finished or not; an attempt that has not ended is in no number."""
    outcomes, findings = _read(run, Arm.SEARCH)
    rivals, rival_findings = _read(run, Arm.BASELINE)
    judged = run.manifest.recipe.get("origins") == "judged"
    search = arm_summary(outcomes, findings, read_answers(run.layout), judged)
    baseline = arm_summary(rivals, rival_findings, judged=judged) if rivals else None
    comparison = paired(outcomes, rivals) if rivals else None
    counted = counting(outcomes, findings, rivals, rival_findings)
    facts = run_facts(run)
    return Summary(
        facts=facts,
        headline=headline(facts, search, comparison, counted),
        search=search,
        baseline=baseline,
        comparison=comparison,
        counting=counted,
        known_error=known_error(facts.digests) if counted else "",
        classes=_classes(run.classes, outcomes, first_found(findings)),
        confusions=class_pairs(findings),
        metrics=flat_metrics(search, baseline, comparison, counted),
    )


def _read(run: Run, arm: Arm) -> tuple[list[Outcome], list[Finding]]:
    """Outcomes first, then only their findings: right even while the run is being written."""
    outcomes = list(run.outcomes(arm))
    found = {o.attempt for o in outcomes if o.status is Status.FOUND}
    return outcomes, [_without_bulk(f) for f in run.findings(arm) if f.attempt in found]


def _without_bulk(finding: Finding) -> Finding:
    """A finding without latents and probabilities, so that thousands fit in memory."""
    nothing = torch.empty(0)
    return replace(finding, latent=nothing, origin_latent=nothing, before={}, after={})


def _classes(names: Sequence[str], outcomes: Sequence[Outcome], first: Mapping[int, int]) -> tuple[ClassRow, ...]:
    """One row per class that was attempted."""
    by_label: dict[int, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_label[outcome.label].append(outcome)
    rows = []
    for label, mine in sorted(by_label.items()):
        accepted = sum(o.accepted for o in mine)
        found = [first.get(o.attempt, o.evaluations) for o in mine if o.status is Status.FOUND]
        rows.append(
            ClassRow(
                label=label,
                name=names[label],
                attempts=len(mine),
                accepted=accepted,
                confirmed=rate(len(found), accepted),
                median_evaluations=spread(found).median,
            )
        )
    return tuple(rows)
