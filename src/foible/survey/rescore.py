"""Validators beside people: what a verdict is worth, measured on the images that people have decided about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from foible.metrics import Discrimination, discrimination
from foible.records import Verdict
from foible.store.answers import Answers
from foible.store.reader import FindingLine


class ValidatorScore(BaseModel):
    """One validator's verdicts about one thing; `threshold` is None where it was not always the same."""

    model_config = ConfigDict(frozen=True)

    validator: str
    about: str
    threshold: float | None
    result: Discrimination


@dataclass(frozen=True)
class Case:
    """A verdict, and what the majority of people says about the same thing."""

    verdict: Verdict
    truth: bool


def cases(lines: Sequence[FindingLine], answers: Answers) -> list[Case]:
    """Every verdict on a finding that people have decided about, in order of attempt."""
    found = []
    for line in sorted(lines, key=lambda f: f.key):
        says = {"image": answers.valid(line.key), "label": answers.kept(line.key, line.label)}
        for verdict in line.verdicts:
            truth = says.get(verdict.about)  # people are not asked about steadiness
            if truth is not None:
                found.append(Case(verdict, truth))
    return found


def rescore(lines: Sequence[FindingLine], answers: Answers) -> tuple[ValidatorScore, ...]:
    """Every validator that has judged findings which people have decided about."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases(lines, answers):
        groups.setdefault((case.verdict.validator, case.verdict.about), []).append(case)
    scores = []
    for (validator, about), group in sorted(groups.items()):
        thresholds = {case.verdict.threshold for case in group}
        scores.append(
            ValidatorScore(
                validator=validator,
                about=about,
                threshold=thresholds.pop() if len(thresholds) == 1 else None,
                result=discrimination(
                    [c.verdict.score for c in group], [c.verdict.accepted for c in group], [c.truth for c in group]
                ),
            )
        )
    return tuple(scores)
