"""Draw the judge's lines on failures of one's own searches: where nobody was asked about them, a share that people accept elsewhere.

Real images say which images are usual, not where people draw the line among failures. But how many failures of such searches
people accept is known from studies, and changes less from model to model than which ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from foible.domains import Domain
from foible.errors import RecipeError
from foible.judging.people import judged
from foible.metrics import rate
from foible.store import Run
from foible.validators.calibration import Calibration, FittedThreshold

FEWEST = 20  # failures, below which a share says nothing


@dataclass(frozen=True)
class ToShares:
    """A judge whose lines were moved: of so many failures, those valid and those that count, before and after."""

    calibration: Calibration
    failures: int
    before: tuple[int, int]
    after: tuple[int, int]
    company: str


def refit_to_shares(run: Run, valid: float, counts: float, domain: Domain | None = None) -> ToShares:
    """Thresholds at which these shares of a run's failures are valid, and valid with their label."""
    if not 0 < counts <= valid <= 1:
        raise RecipeError(
            f"of all failures {valid:g} are to be valid and {counts:g} also to keep their label",
            "give two shares between 0 and 1, the second no larger than the first",
        )
    judge, evidence, labels = judged(run, domain)
    if len(labels) < FEWEST:
        raise RecipeError(
            f"the run has {len(labels)} failures; {FEWEST} are needed to draw a line among them", "search longer"
        )
    said = judge.weighed(evidence, labels)
    calibration = lines_at(said.validity, said.kept_score, valid, counts)
    image, label = calibration.threshold("image"), calibration.threshold("label")
    valid_now = said.validity >= image
    return ToShares(
        calibration,
        len(labels),
        (int(said.valid.sum()), int((said.valid & said.kept).sum())),
        (int(valid_now.sum()), int((valid_now & (said.kept_score >= label)).sum())),
        judge.company(),
    )


def lines_at(validity: Tensor, kept: Tensor, valid: float, counts: float) -> Calibration:
    """Thresholds on scores (N,) of failures at which these shares of them are valid, and count."""
    image = _line(validity, valid)
    label = _line(torch.where(validity >= image, kept, -1.0), counts)

    def fitted(threshold: float, share: float) -> FittedThreshold:
        return FittedThreshold(threshold=threshold, n=len(validity), accepted=round(share * len(validity)))

    return Calibration(image=fitted(image, valid), label=fitted(label, counts))


def _line(scores: Tensor, share: float) -> float:
    """Halfway between the last score that is accepted and the next (or 0), so that this share of scores (N,) is."""
    ranked: list[float] = [*scores.double().clamp_min(0).sort(descending=True).values.tolist(), 0.0]
    accepted = max(1, round(share * len(scores)))
    return (ranked[accepted - 1] + ranked[accepted]) / 2


def shares_lines(done: ToShares, path: Path) -> list[str]:
    """What `foible judge --refit RUN --shares VALID COUNTS` prints."""
    lines = [
        done.company,
        f"{done.failures} failures; nobody was asked about them: the lines are moved to the shares given",
    ]
    thresholds = (done.calibration.threshold("image"), done.calibration.threshold("label"))
    for what, before, after, line in zip(("valid", "count"), done.before, done.after, thresholds, strict=True):
        shares = [
            f"{(found := rate(n, done.failures)).share:.1%} ({found.low:.1%} to {found.high:.1%})"
            for n in (before, after)
        ]
        lines.append(f"{what:<8}{shares[0]} before, {shares[1]} from a score of {line:.3f} on")
    return [*lines, f"written to {path}; use it with --calibration {path}"]
