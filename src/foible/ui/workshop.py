"""Models at the bench: probing a set-up, drawing sample images, rendering the way to a failure.

One thing at a time, under a lock, and remembered: pages must stay quick while a campaign uses every core.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from foible.campaign import Campaign, Recipe, assemble, check, load_recipe
from foible.campaign.along import Path as ImagePath
from foible.campaign.along import path_to_failure
from foible.campaign.estimate import evaluations_per_second
from foible.classifiers.adapting.probe import Line
from foible.domains import Domain, real_images
from foible.errors import FoibleError, ModelError
from foible.images import to_bytes
from foible.protocols import Encoder, Generator, prefers_real
from foible.store import Run
from foible.types import Finding, Images
from foible.ui.offers import DomainChoice, ModelChoice
from foible.zoo import resolve

REMEMBERED = 200
CAMPAIGNS = 2  # with their models in memory
COLUMNS = 10
Result = TypeVar("Result")


@dataclass(frozen=True)
class Probe:
    """What was found out about a set-up before running it, and how fast it is (None when it cannot run)."""

    lines: tuple[Line, ...]
    rate: float | None

    @property
    def fine(self) -> bool:
        """Whether a run makes sense."""
        return self.rate is not None


class Workshop:
    """Whatever needs a model in memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory: OrderedDict[Hashable, Any] = OrderedDict()
        self._campaigns: OrderedDict[Hashable, Campaign] = OrderedDict()

    def probe(self, recipe: Recipe) -> Probe:
        """Look at domain, generator and classifier together, as `foible check` does, and measure their speed."""
        return self._once(probe_key(recipe), lambda: _probe(recipe))

    def known_probe(self, recipe: Recipe) -> Probe | None:
        """What an earlier probe of the same models said."""
        return self._memory.get(probe_key(recipe))

    def domain_sheet(self, chosen: DomainChoice) -> NDArray[np.uint8]:
        """Real images of a domain, one per class."""
        return self._once(("domain", chosen.use), lambda: sheet(_real(chosen.domain, COLUMNS)[0]))

    def generator_sheet(self, chosen: ModelChoice, about: DomainChoice) -> NDArray[np.uint8]:
        """Images as searches will start from: real ones through the generator, or samples where it cannot encode."""
        return self._once(("generator", chosen.use), lambda: sheet(_generated(chosen, about.domain)))

    def path(self, run: Run, finding: Finding) -> ImagePath:
        """The images between an origin and its failure, with what the classifier says of each."""
        key = ("path", str(run.layout.folder), finding.arm, finding.key, finding.image_sha256)
        return self._once(key, lambda: path_to_failure(self._campaign(run), finding))

    def _campaign(self, run: Run) -> Campaign:
        """The models of a run, kept for the next failure that is looked at."""
        key = (str(run.layout.folder), run.manifest.created)
        if key not in self._campaigns:
            while len(self._campaigns) >= CAMPAIGNS:
                close(self._campaigns.popitem(last=False)[1])
            campaign = assemble(load_recipe(run.manifest.recipe))
            if campaign.digests != run.manifest.digests:
                close(campaign)
                raise ModelError("a model file has changed since this run", "put the old one back")
            self._campaigns[key] = campaign
        return self._campaigns[key]

    def _once(self, key: Hashable, make: Callable[[], Result]) -> Result:
        with self._lock:
            if key not in self._memory:
                self._memory[key] = make()
                while len(self._memory) > REMEMBERED:
                    self._memory.popitem(last=False)
            result: Result = self._memory[key]
            return result


def close(campaign: Campaign) -> None:
    """Let go of a worker process behind a classifier, where there is one."""
    if callable(end := getattr(campaign.classifier, "close", None)):
        end()


def probe_key(recipe: Recipe) -> Hashable:
    """What a probe depends on."""
    return ("probe", recipe.domain, recipe.generator.model_dump_json(), recipe.classifier.model_dump_json())


def _probe(recipe: Recipe) -> Probe:
    try:
        campaign = assemble(recipe)
        try:
            notes = getattr(campaign.classifier, "notes", ())
            lines = (*(Line("ok", "classifier", note) for note in notes), *check(campaign).lines)
            wrong = any(line.level == "wrong" for line in lines)
            return Probe(lines, None if wrong else evaluations_per_second(campaign))
        finally:
            close(campaign)
    except FoibleError as error:
        return Probe((Line("wrong", "set-up", error.message, error.hint),), None)


def _real(domain: Domain, most: int) -> tuple[Images, torch.Tensor]:
    data = real_images(domain)
    step = max(1, len(domain.classes) // most)
    wanted = range(0, len(domain.classes), step)[:most]
    rows = torch.stack([(data.labels == label).nonzero()[0, 0] for label in wanted])
    return data.images(rows), data.labels[rows]


@torch.inference_mode()
def _generated(chosen: ModelChoice, domain: Domain) -> Images:
    generator: Generator = resolve("generators", chosen.use, {}).model
    images, labels = _real(domain, COLUMNS)
    if isinstance(generator, Encoder) and prefers_real(generator):
        latents = generator.encode(images, labels)
    else:
        latents = generator.sample(labels, torch.Generator().manual_seed(0))
    return generator.decode(latents, labels)


def sheet(images: Images) -> NDArray[np.uint8]:
    """Images (N, C, H, W) side by side, as pixels (H, N x W) or (H, N x W, 3)."""
    row = np.concatenate(list(to_bytes(images.clamp(0, 1))), axis=2)
    return row[0] if len(row) == 1 else np.ascontiguousarray(row.transpose(1, 2, 0))
