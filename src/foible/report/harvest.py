"""What runs that keep every failure have gathered, compared run by run: failures of one run are alike, runs are not.

A search that finds one failure and copies it a thousand times has found one. So a run is worth the failures that are no
near copies of others it found before, for every thousand evaluations; runs of two sides are compared by Mann and
Whitney's exact test, with Vargha and Delaney's A as the size of the effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy.stats import mannwhitneyu

from foible.metrics import vargha_delaney
from foible.report.frozen import Frozen
from foible.store import Run


class Harvest(Frozen):
    """A run in numbers; `distinct` failures are further than `metrics.diversity.NEAR` from all found before them."""

    failures: int
    distinct: int
    evaluations: int

    @property
    def each_thousand(self) -> float:
        """Distinct failures for every thousand evaluations."""
        return 1000 * self.distinct / self.evaluations if self.evaluations else 0.0


class HarvestDuel(Frozen):
    """Who gathers more distinct failures for every thousand evaluations; `larger` is the chance that a run of the first does."""

    first: tuple[Harvest, ...]
    second: tuple[Harvest, ...]
    larger: float
    p_value: float
    corrected: float
    sentence: str = ""


def gathers(run: Run) -> bool:
    """Whether a run keeps every failure that it comes across."""
    return bool(run.manifest.recipe.get("keeps") == "every")


def harvest(run: Run) -> Harvest:
    """Count a run's failures."""
    import torch

    from foible.metrics.diversity import NEAR, distinct, flat

    images = [run.image(finding.image) for finding in run.findings()]
    kept = len(distinct(flat(torch.stack(images)), NEAR)) if images else 0
    return Harvest(failures=len(images), distinct=kept, evaluations=sum(o.evaluations for o in run.outcomes()))


def harvest_duel(first: Sequence[Harvest], second: Sequence[Harvest]) -> HarvestDuel:
    """Compare runs of two sides; the p-value is not corrected yet."""
    ours, theirs = ([h.each_thousand for h in runs] for runs in (first, second))
    p = float(mannwhitneyu(ours, theirs, alternative="two-sided").pvalue)
    chance = vargha_delaney(ours, theirs)
    return HarvestDuel(
        first=tuple(first),
        second=tuple(second),
        larger=0.5 if chance is None else chance,
        p_value=p,
        corrected=p,
    )
