"""From an origin to its failure: the images on the straight line between the two latents."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from foible.campaign.assemble import Campaign
from foible.campaign.evaluate import Evaluator
from foible.records import Finding
from foible.types import TESTED, Images


@dataclass(frozen=True)
class Path:
    """Images (S, C, H, W) from origin to failure, and the probabilities (S, classes) the classifier gives each."""

    images: Images
    probabilities: torch.Tensor


def path_to_failure(campaign: Campaign, finding: Finding, steps: int = 21) -> Path:
    """Render equal steps from a finding's origin to its failure, and ask the classifier about each."""
    share = torch.linspace(0, 1, steps).view(-1, *[1] * finding.latent.dim())
    latents = torch.lerp(finding.origin_latent[None], finding.latent[None], share)
    shown = Evaluator(campaign, chunk=8).render(latents, torch.full((steps,), finding.label))
    return Path(shown.images, shown.outputs[TESTED].double().softmax(1))
