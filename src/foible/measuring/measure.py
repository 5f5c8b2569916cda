"""One pass over a suite feeds all criteria; memory does not grow with the number of images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foible.coverage import USUAL, Batch, Criterion, Profile, Scope, fitted, read
from foible.coverage.batch import joined
from foible.coverage.order import deepgini
from foible.errors import DataError, MissingExtra, RecipeError, did_you_mean
from foible.measuring.suites import Part, Suite
from foible.registry import build, table

TOGETHER = 500_000  # values taken in at once: larger batches suit the criteria better than the model


@dataclass(frozen=True)
class Watched:
    """A part of a suite as the classifier sees it."""

    part: Part
    batch: Batch
    probabilities: Tensor  # (N, classes)

    @property
    def wrong(self) -> Tensor:
        """Which images are taken for another class than expected (N,); False where that is not known."""
        return (self.batch.predicted != self.part.labels) & (self.part.labels >= 0)


def watched(classifier: Any, suite: Suite, scope: Scope) -> Iterator[Watched]:
    """A suite going by: logits and units of each batch, in one pass of the classifier."""
    for part in suite.parts():
        yield _seen(classifier, part, scope)


@torch.no_grad()
def _seen(classifier: Any, part: Part, scope: Scope) -> Watched:
    """One batch; its maps are gone before the next one is asked for."""
    logits, activations = classifier.inspect(part.images, scope.layers)
    return Watched(part, read(activations, scope, logits.argmax(1)), logits.softmax(1))


def profiled(classifier: Any, suite: Suite, scope: Scope, digest: str) -> Profile:
    """The profile of a classifier on ordinary images."""
    return fitted((seen.batch for seen in watched(classifier, suite, scope)), model=digest, source=suite.source)


@dataclass(frozen=True)
class Criteria:
    """The criteria that can be measured, and why others cannot."""

    chosen: dict[str, Criterion]
    left_out: dict[str, str]


def criteria_of(
    profile: Profile, names: Sequence[str] = ("all",), settings: Mapping[str, Mapping[str, Any]] | None = None
) -> Criteria:
    """Criteria by name, on a profile.

    Args:
        profile: what the units do on ordinary data.
        names: "all" for the usual ones, of which those that cannot be measured here are left out; or names.
        settings: parameters by criterion.
    """
    settings, known, chosen, left_out = settings or {}, table("coverage"), {}, {}
    wanted = [n for name in names for n in (USUAL if name == "all" else (name,))]
    for name in (*wanted, *settings):
        if name not in known:
            raise RecipeError(f"no coverage is called '{name}'", did_you_mean(name, known))
    if not wanted:
        raise RecipeError("no criterion is named", f"all, or some of: {', '.join(known)}")
    if idle := next((name for name in settings if name not in wanted), None):
        raise RecipeError(
            f"coverage '{idle}' has settings and is not measured", f"add it: --criteria {','.join((*names, idle))}"
        )
    for name in dict.fromkeys(wanted):
        try:
            chosen[name] = build("coverage", name, {"profile": profile, **settings.get(name, {})})
        except (DataError, MissingExtra, RecipeError) as error:
            if name in names or name in settings:
                raise
            left_out[name] = error.message
    return Criteria(chosen, left_out)


@dataclass(frozen=True)
class Seen:
    """What a suite came to: how many images, how many had a label and were right, and how unsure the model was."""

    inputs: int
    labelled: int
    right: int
    uncertainty: float


def cover(classifier: Any, suite: Suite, criteria: Mapping[str, Criterion], scope: Scope) -> Seen:
    """Let every criterion remember a suite."""
    inputs = labelled = wrong = 0
    uncertain = 0.0
    waiting: list[Batch] = []
    for seen in watched(classifier, suite, scope):
        waiting.append(seen.batch)
        if sum(map(len, waiting)) * scope.units >= TOGETHER:
            waiting = _absorbed(waiting, criteria)
        inputs += len(seen.batch)
        labelled += int((seen.part.labels >= 0).sum())
        wrong += int(seen.wrong.sum())
        uncertain += float(deepgini(seen.probabilities).sum())
    if not inputs:
        raise DataError(f"the suite '{suite.name}' holds no images", "give it some")
    _absorbed(waiting, criteria)
    return Seen(inputs, labelled, labelled - wrong, uncertain / inputs)


def _absorbed(waiting: list[Batch], criteria: Mapping[str, Criterion]) -> list[Batch]:
    """Let all criteria remember what waits; nothing waits any more."""
    if waiting:
        batch = joined(waiting)
        for criterion in criteria.values():
            criterion.absorb(batch)
    return []
