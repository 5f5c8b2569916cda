"""What two models say differently, as one value: the search, the baselines beside it, and what the disagreements are worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch

from foible.differing.answers import Answers
from foible.differing.corpus import Corpus
from foible.differing.filters import Sieved
from foible.differing.growth import Growth, growth_of_sample, growth_of_search
from foible.differing.selection import Selection, selection
from foible.differing.several import Together
from foible.differing.variety import Variety, variety
from foible.images import to_images
from foible.store import Run
from foible.types import Images


@dataclass(frozen=True)
class Difference:
    """What models say differently, and where it was looked for; `real` is None where there are no real images.

    `expected_by` says by whose word an answer is right. `together` counts disagreements of every two where there are more
    than two models.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    run: Run
    state: str
    corpus: Corpus
    expected_by: str
    evaluations: int
    attempts: int
    samples: Answers
    real: Answers | None
    sieved: tuple[Sieved, ...] = ()
    together: Together | None = None
    published: bool = False

    @cached_property
    def found(self) -> Answers:
        """What A and B say of the images that were found, and which of these come from the same origin."""
        places: dict[str, int] = {}
        origins = [places.setdefault(f.origin_sha256, len(places)) for f in self.run.findings()]
        return replace(self.corpus.answers, origins=torch.tensor(origins, dtype=torch.long))

    @property
    def images(self) -> Images:
        """The images that were found."""
        return to_images(self.corpus.images)

    @cached_property
    def variety(self) -> Variety:
        """How different they are from each other."""
        return variety(self.images, self.found, self.published)

    @cached_property
    def selection(self) -> Selection:
        """Who is right where they disagree."""
        return selection(self.found)

    @cached_property
    def curves(self) -> tuple[Growth, ...]:
        """Distinct disagreements over queries: of the search, of random and of real images."""
        searched = growth_of_search(self.run, self.images, str(self.run.manifest.recipe["search"]["use"]))
        random = growth_of_sample(self.samples, "random images")
        return (searched, random) + ((growth_of_sample(self.real, "real images"),) if self.real else ())

    @property
    def figures(self) -> dict[str, float | None]:
        """Numbers for a gate."""
        real, found = self.real, self.found
        count = found.disagreements
        wins = self.selection.overall
        return {
            "disagreements": count,
            "found_rate": len({f.attempt for f in self.run.index()}) / self.attempts if self.attempts else None,
            "evaluations_per_disagreement": self.evaluations / count if count else None,
            "largest_gap": found.largest_gap,
            **found.categories(),
            "win_rate_a": wins.rate.share,
            **self.variety.figures,
            "random_images": len(self.samples),
            "random_disagreements": self.samples.disagreements,
            "random_largest_gap": self.samples.largest_gap,
            "real_images": len(real) if real else None,
            "real_disagreements": real.disagreements if real else None,
            "real_regressions": real.categories()["only_a_right"] if real else None,
            "real_largest_gap": real.largest_gap if real else None,
        }


FIGURES = (
    "disagreements",
    "found_rate",
    "evaluations_per_disagreement",
    "largest_gap",
    "only_a_right",
    "only_b_right",
    "both_wrong",
    "undecided",
    "win_rate_a",
    "distinct",
    "exactly_distinct",
    "label_pairs",
    "nearest_other",
    "log_volume",
    "random_images",
    "random_disagreements",
    "random_largest_gap",
    "real_images",
    "real_disagreements",
    "real_regressions",
    "real_largest_gap",
)  # what a gate may name
