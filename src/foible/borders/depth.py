"""How deep training images lie inside their classes by a model, and how far apart the classes are in a latent space.

The *depth* of class a against b is the median, over images labelled a that the model takes for a, of the log-odds of a to
b. Where a share of the labels of two classes was exchanged, a model learns to say so: 3 % of wrong labels put a ceiling of
log(.97 / .03) = 3.5 on it. The border itself hardly moves, so that distances to it say little.

How far apart two classes are is the Mahalanobis distance of their mean latents under the covariance within classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from foible.domains import RealImages
from foible.errors import DataError, RecipeError
from foible.faces import Encoder
from foible.protocols import Classifier, Generator

BATCH = 250
RIDGE = 1e-3  # of the mean variance, added to the covariance within classes
FEWEST = 5  # images of a class without which nothing is said of it


@dataclass(frozen=True)
class Margins:
    """What a model says of labelled images: log-odds of each image's own class to every other (N, classes)."""

    labels: Tensor
    odds: Tensor

    @property
    def right(self) -> Tensor:
        """Which images the model takes for what their labels say (N,)."""
        return self.odds.amin(1) >= 0

    def depth(self, label: int, other: int) -> float:
        """The median log-odds of a class to another, over its images that the model takes for it."""
        mine = self.odds[(self.labels == label) & self.right, other]
        return float(mine.median()) if len(mine) >= FEWEST else float("nan")


@torch.inference_mode()
def margins_of(classifier: Classifier, data: RealImages, device: torch.device) -> Margins:
    """Ask a model about every image."""
    parts = []
    for index in torch.arange(len(data.labels)).split(BATCH):
        logits = classifier(data.images(index).to(device)).double().cpu()
        parts.append(logits.gather(1, data.labels[index, None]) - logits)
    return Margins(data.labels, torch.cat(parts))


@torch.inference_mode()
def latent_distances(generator: Generator, data: RealImages, classes: int, device: torch.device, most: int) -> Tensor:
    """How far apart the classes (classes, classes) are among at most so many images."""
    if not isinstance(generator, Encoder):
        raise RecipeError(
            f"generator '{generator.name}' cannot start from real images: it has no encoder",
            "name a VAE or an autoencoder with --generator",
        )
    index = torch.linspace(0, len(data.labels) - 1, min(most, len(data.labels))).long()
    latents = torch.cat(
        [
            generator.encode(data.images(part).to(device), data.labels[part].to(device)).flatten(1).double().cpu()
            for part in index.split(BATCH)
        ]
    )
    labels = data.labels[index]
    means = torch.zeros(classes, latents.shape[1], dtype=torch.float64)
    for label in range(classes):
        mine = latents[labels == label]
        if len(mine) < FEWEST:
            raise DataError(f"class {label} has {len(mine)} images: too few to say where it lies", "name more data")
        means[label] = mine.mean(0)
    within = latents - means[labels]
    covariance = within.T @ within / len(within)
    ridge = RIDGE * covariance.diagonal().mean()
    whiten = torch.linalg.cholesky(covariance + ridge * torch.eye(len(covariance), dtype=torch.float64))
    white = torch.linalg.solve_triangular(whiten, means.T, upper=False).T
    return torch.cdist(white, white)
