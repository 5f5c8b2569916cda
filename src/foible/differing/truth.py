"""What an image on which two models disagree really shows: as people say, else the judge, else the label of its origin.

At a boundary the label of the origin is a guess. The judge looks at the image itself: where it takes it for one of the domain
and is sure enough of a class, that class is expected, whatever the origin was. Where people have answered (a survey, or the
workbench) their majority stands.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from foible.protocols import Validator
from foible.records import Finding, everyone_accepts
from foible.store import Run
from foible.store.answers import read_answers
from foible.types import Images
from foible.validators.judge import Judge

UNKNOWN = -1
TOGETHER = 64  # images shown to the judge at a time


def expected_classes(
    run: Run, findings: Sequence[Finding], images: Images, validators: Sequence[Validator]
) -> tuple[Tensor, str]:
    """The class expected of each finding (N,), -1 where nobody can tell, and by whose word."""
    judge = next((v for v in validators if isinstance(v, Judge)), None)
    if judge is not None:
        expected, by = judged_classes(judge, images), "the judge"
    else:
        kept = [f.label if everyone_accepts(f.verdicts) else UNKNOWN for f in findings]
        expected, by = torch.tensor(kept, dtype=torch.long), "the label of the starting image" + _accepted(validators)
    said = read_answers(run.layout)
    asked = {key for mine in said.by_person.values() for key in mine}
    for row, finding in enumerate(findings):
        if finding.key in asked:
            expected[row] = _majority(said.votes(finding.key), len(run.classes))
    return expected, f"people where they answered, else {by}" if asked else by


def judged_classes(judge: Judge, images: Images) -> Tensor:
    """The class (N,) that the judge sees in images that it accepts and is sure of, -1 elsewhere."""
    parts = [torch.empty(0, dtype=torch.long)]
    for some in images.split(TOGETHER) if len(images) else ():  # nothing would be split into one batch of nothing
        said = judge.judgement(some)
        parts.append(torch.where(said.valid & said.kept, said.label, UNKNOWN))
    return torch.cat(parts)


def _accepted(validators: Sequence[Validator]) -> str:
    return " where validators accept the image" if validators else "; nobody judged"


def _majority(votes: dict[int, int], classes: int) -> int:
    """The class that more people name than any other answer; -1 on a tie, or where most name none."""
    ranked = sorted(votes.items(), key=lambda item: -item[1])
    tied = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
    return ranked[0][0] if ranked and not tied and 0 <= ranked[0][0] < classes else UNKNOWN
