"""A map of what a classifier's last hidden layer shows of two classes, and where the images on their border lie in it.

Kang, Feldt, Yoo (SINVAD, TOSEM 2024), Fig. 13: a principal component analysis of two components, fitted on real images of
the two classes alone; then the images of that border are put into the same plane. They are expected between the clouds.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from foible.campaign.assemble import Campaign
from foible.coverage.batch import in_units
from foible.errors import DataError
from foible.faces import Inspectable
from foible.metrics import Rate, rate
from foible.objectives.surprise import last_hidden
from foible.records import Finding
from foible.store import Run
from foible.types import Images

MOST = 300  # real images of each class
BATCH = 200


@dataclass(frozen=True)
class ActivationMap:
    """Points in the plane: real images of the two classes, and images on their border.

    Args:
        pair: the two classes.
        layer: whose values are mapped.
        clouds: for each class the points (N, 2) of its real images.
        border: points (M, 2) of the border images.
        explained: share of the variance of the real images along either component.
    """

    pair: tuple[int, int]
    layer: str
    clouds: tuple[Tensor, Tensor]
    border: Tensor
    explained: tuple[float, float]

    @property
    def between(self) -> Rate:
        """How many border images lie between the middles of the two clouds, seen along the line that joins them."""
        first, second = (cloud.mean(0) for cloud in self.clouds)
        along = (self.border - first) @ (second - first) / (second - first).square().sum().clamp_min(1e-12)
        return rate(int(((along > 0) & (along < 1)).sum()), len(self.border))


def activation_map(run: Run, campaign: Campaign, pair: tuple[int, int]) -> ActivationMap:
    """Map the two classes of a run and the findings that lie between them.

    Args:
        run: whose findings are put into the map.
        campaign: of that run, with its classifier and real images.
        pair: the two classes.
    """
    classifier = campaign.classifier
    layer = last_hidden(classifier)
    mine = [f for f in run.findings() if _classes(f) == set(pair)]
    if not mine:
        names = " and ".join(run.classes[c] for c in pair)
        raise DataError(f"'{run.layout.folder}' has no failure between {names}", "pick a pair that its report shows")
    real = []
    for label in pair:
        rows = (campaign.data.labels == label).nonzero()[:MOST, 0]
        if len(rows) < 2:
            raise DataError(f"{campaign.data.source} has too few images of class '{run.classes[label]}' for a map")
        real.append(_values(campaign, layer, campaign.data.images(rows)))
    every = torch.cat(real)
    middle = every.mean(0)
    _, spread, directions = torch.linalg.svd(every - middle, full_matrices=False)
    plane = directions[:2].T
    explained = (spread.square() / spread.square().sum().clamp_min(1e-12))[:2]
    border = _values(campaign, layer, torch.stack([run.image(f.image) for f in mine]))
    first, second = ((some - middle) @ plane for some in real)
    return ActivationMap(
        pair, layer, (first, second), (border - middle) @ plane, (float(explained[0]), float(explained[1]))
    )


def _classes(finding: Finding) -> set[int]:
    """The two classes an image lies between: the most probable two where they were measured, else from and to."""
    if "first" in finding.measures and "second" in finding.measures:
        return {int(finding.measures["first"]), int(finding.measures["second"])}
    return {finding.label, finding.predicted}


@torch.inference_mode()
def _values(campaign: Campaign, layer: str, images: Images) -> Tensor:
    classifier = campaign.classifier
    assert isinstance(classifier, Inspectable)
    parts = [classifier.inspect(some.to(campaign.device), (layer,))[1][layer] for some in images.split(BATCH)]
    return torch.cat([in_units(part, "channel").double().cpu() for part in parts])
