"""Models at the bench: drawing sample images, rendering the way to a failure.

One thing at a time for each run, and remembered: pages must stay quick while a campaign uses every core.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from foible.campaign import Campaign, Recipe, assemble, load_recipe
from foible.campaign.along import Path as ImagePath
from foible.campaign.along import path_to_failure
from foible.campaign.trust import must_be_the_same, must_be_trusted
from foible.domains import Domain, real_images
from foible.errors import DataError, ModelError
from foible.faces import Encoder, prefers_real
from foible.images import to_bytes
from foible.protocols import Generator
from foible.records import Finding
from foible.store import Run
from foible.types import Images
from foible.ui.offers import DomainChoice, ModelChoice
from foible.ui.probing import Probe, probe_key
from foible.zoo import resolve

REMEMBERED = 200
CAMPAIGNS = 2  # with their models in memory
COLUMNS = 10
SHEETS = "sheets"
Result = TypeVar("Result")


class Workshop:
    """Whatever needs a model in memory."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, threading.Lock] = {}
        self._memory: OrderedDict[Hashable, Any] = OrderedDict()
        self._campaigns: OrderedDict[Hashable, Campaign] = OrderedDict()

    def known_probe(self, recipe: Recipe) -> Probe | None:
        """What an earlier probe of the same models said."""
        return self._memory.get(probe_key(recipe))

    def remember_probe(self, recipe: Recipe, probe: Probe) -> None:
        """Keep what a probe said, for whoever asks about the same models."""
        self._remember(probe_key(recipe), probe)

    def domain_sheet(self, chosen: DomainChoice) -> NDArray[np.uint8]:
        """Real images of a domain, one per class."""
        return self._once(
            SHEETS,
            ("domain", chosen.use),
            lambda: _sheet_or_grey(chosen.domain, lambda: _real(chosen.domain, COLUMNS)[0]),
        )

    def generator_sheet(self, chosen: ModelChoice, about: DomainChoice) -> NDArray[np.uint8]:
        """Images as searches will start from: real ones through the generator, or samples where it cannot encode."""
        return self._once(
            SHEETS,
            ("generator", chosen.use),
            lambda: _sheet_or_grey(about.domain, lambda: _generated(chosen, about.domain)),
        )

    def path(self, run: Run, finding: Finding) -> ImagePath:
        """The images between an origin and its failure, with what the classifier says of each."""
        key = ("path", finding.arm, finding.key, finding.image_sha256)
        return self.drawn(run, key, lambda campaign: path_to_failure(campaign, finding))

    def drawn(self, run: Run, key: tuple[Hashable, ...], draw: Callable[[Campaign], Result]) -> Result:
        """Something drawn with the models of a run, once for each key."""
        folder = str(run.layout.folder)
        return self._once(("run", folder), (folder, run.manifest.created, *key), lambda: draw(self._campaign(run)))

    def _campaign(self, run: Run) -> Campaign:
        """The models of a run, kept for the next failure that is looked at."""
        key = (str(run.layout.folder), run.manifest.created)
        if key not in self._campaigns:
            must_be_trusted(run.layout, load_recipe(run.manifest.recipe).resolved())
            # nobody judges here: readers are large
            alone = {"validators": [], "origins": "any", "baseline.attempts": 0}
            campaign = assemble(load_recipe(run.manifest.recipe, alone))
            try:
                must_be_the_same(campaign, run.manifest)
            except ModelError:
                close(campaign)
                raise
            self._campaigns[key] = campaign
            while len(self._campaigns) > CAMPAIGNS:
                close(self._campaigns.popitem(last=False)[1])
            return campaign
        return self._campaigns[key]

    def _once(self, bench: Hashable, key: Hashable, make: Callable[[], Result]) -> Result:
        """Made one at a time on each bench, and remembered: a slow model holds up its own run alone."""
        with self._locks.setdefault(bench, threading.Lock()):
            if key not in self._memory:
                self._remember(key, make())
            result: Result = self._memory[key]
            return result

    def _remember(self, key: Hashable, result: object) -> None:
        self._memory[key] = result
        while len(self._memory) > REMEMBERED:
            self._memory.popitem(last=False)


def close(campaign: Campaign) -> None:
    """Let go of a worker process behind a classifier, where there is one."""
    if callable(end := getattr(campaign.classifier, "close", None)):
        end()


def _sheet_or_grey(domain: Domain, make: Callable[[], Images]) -> NDArray[np.uint8]:
    """A sheet; plain grey where it needs real images and there are none, which the page says in words."""
    try:
        return sheet(make())
    except DataError:
        return sheet(torch.full((COLUMNS, *domain.shape), 0.9))


def _real(domain: Domain, most: int) -> tuple[Images, torch.Tensor]:
    data = real_images(domain)
    step = max(1, len(domain.classes) // most)
    wanted = range(0, len(domain.classes), step)[:most]
    rows = torch.stack([(data.labels == label).nonzero()[0, 0] for label in wanted])
    return data.images(rows), data.labels[rows]


@torch.inference_mode()
def _generated(chosen: ModelChoice, domain: Domain) -> Images:
    generator: Generator = resolve("generators", chosen.use, {}).model
    if isinstance(generator, Encoder) and prefers_real(generator):
        images, labels = _real(domain, COLUMNS)
        return generator.decode(generator.encode(images, labels), labels)
    labels = torch.arange(len(domain.classes))[:: max(1, len(domain.classes) // COLUMNS)][:COLUMNS]
    return generator.decode(generator.sample(labels, torch.Generator().manual_seed(0)), labels)


def sheet(images: Images) -> NDArray[np.uint8]:
    """Images (N, C, H, W) side by side, as pixels (H, N x W) or (H, N x W, 3)."""
    row = np.concatenate(list(to_bytes(images.clamp(0, 1))), axis=2)
    return row[0] if len(row) == 1 else np.ascontiguousarray(row.transpose(1, 2, 0))
