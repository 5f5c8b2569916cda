"""Learner for variational autoencoders: binary cross-entropy of the pixels plus the KL divergence to the prior.

With a teacher also the squared error of what it sees in the image (a perceptual loss: Johnson, Alahi and Fei-Fei, 2016).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from foible.domains import Domain, RealImages
from foible.generators.networks.vae import VAENetwork, vae_network
from foible.generators.stored import SPACE_SAMPLE, space_tensors
from foible.generators.vae import VAE
from foible.training.beginnings import start_from
from foible.training.half import multiplied
from foible.training.teacher import known_teacher
from foible.types import Images, LatentSpace
from foible.zoo.files import Header


class VAELearner:
    """Train a VAE.

    Args:
        domain: gives the image shape.
        kl_weight: weight of the divergence term.
        warm_up: share of the training during which that weight rises from 0.
        teacher: a classifier whose maps of image and reconstruction should be alike, as in `known_teacher`.
        teacher_weight: weight of the mean squared error of each of its maps, per pixel value.
        start: a trained VAE of the same network whose training goes on, as in `start_from`.
        half: multiply in bfloat16 while training, as in `multiplied`.
        **config: `network` ("linear", "convolutional" or "spatial") and its parameters.
    """

    role, family, watch = "generators", "vae", "bound"
    unaveraged: tuple[str, ...] = ()

    def __init__(
        self,
        domain: Domain,
        kl_weight: float = 1.0,
        warm_up: float = 0.0,
        teacher: dict[str, Any] | None = None,
        teacher_weight: float = 0.1,
        start: str | None = None,
        half: bool = False,
        **config: Any,
    ) -> None:
        self.domain = domain
        self.config = {"shape": list(domain.shape), **config}
        self.network: VAENetwork = vae_network(self.config)
        if start:
            start_from(self.network, start)
        self.kl_weight, self.warm_up = kl_weight, warm_up
        self.teacher = known_teacher(domain, **teacher) if teacher else None
        self.teacher_weight, self.half = teacher_weight, half

    @property
    def parts(self) -> Mapping[str, nn.Module]:
        """Encoder and decoder together."""
        return {"vae": self.network}

    def losses(self, images: Images, labels: Tensor, progress: float) -> Iterator[tuple[str, Tensor]]:  # noqa: ARG002
        """Negative evidence bound per image, averaged over the batch."""
        mean, log_variance = self._posterior(images)
        latents = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        weight = self.kl_weight * (min(1.0, progress / self.warm_up) if self.warm_up else 1.0)
        yield "vae", (self._unlike(self._decoded(latents), images) + weight * _divergence(mean, log_variance)).mean()

    def measure(self, images: Images, labels: Tensor) -> dict[str, Tensor]:  # noqa: ARG002
        """Bound at the posterior mean and mean absolute error of the reconstruction, per image."""
        mean, log_variance = self._posterior(images)
        decoded = self._decoded(mean)
        bound = self._unlike(decoded, images) + self.kl_weight * _divergence(mean, log_variance)
        return {"bound": bound, "pixel_error": (decoded - images).abs().flatten(1).mean(1)}

    def header(self) -> Header:
        """How the trained generator is rebuilt."""
        return Header(role=self.role, family=self.family, domain=self.domain.name, config=self.config)

    @torch.no_grad()
    def tensors(self, data: RealImages) -> dict[str, Tensor]:
        """Network weights, and the latent space measured on encoder means of real images."""
        index = torch.linspace(0, len(data.labels) - 1, min(SPACE_SAMPLE, len(data.labels))).long()
        space = LatentSpace.measured(self.network.posterior(data.images(index))[0])
        return {**self.network.state_dict(), **space_tensors(space)}

    @staticmethod
    def figures(model: VAE, images: Images, labels: Tensor) -> dict[str, Tensor]:
        """Figures of the stored model on test images, per image."""
        decoded = model.decode(model.encode(images, labels), labels)
        return {"pixel_error": (decoded - images).abs().flatten(1).mean(1)}

    def _posterior(self, images: Images) -> tuple[Tensor, Tensor]:
        with multiplied(self.half, self.network):
            mean, log_variance = self.network.posterior(images)
        return mean.float(), log_variance.float()

    def _decoded(self, latents: Tensor) -> Images:
        with multiplied(self.half, self.network):
            decoded: Images = self.network(latents)
        return decoded.float()

    def _unlike(self, decoded: Images, images: Images) -> Tensor:
        """How much a reconstruction differs from the image, (N,)."""
        pixels = functional.binary_cross_entropy(decoded, images, reduction="none").flatten(1)
        if self.teacher is None:
            return pixels.sum(1)
        with multiplied(self.half, self.network):
            maps = zip(self.teacher(decoded)[1], self.teacher(images)[1], strict=True)
        seen = torch.stack([(a.float() - b.float()).square().flatten(1).mean(1) for a, b in maps]).sum(0)
        return pixels.sum(1) + self.teacher_weight * pixels.shape[1] * seen


def _divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    return -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).flatten(1).sum(1)
