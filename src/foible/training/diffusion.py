"""Learner for diffusion models: the velocity of noisy images, the class left out now and then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from foible.domains import Domain, RealImages
from foible.errors import RecipeError
from foible.generators.diffusion import TRAINED_STEPS, Diffusion
from foible.generators.networks.unet import Denoiser, ddim
from foible.generators.networks.vae import SpatialVAE
from foible.generators.stored import SPACE_SAMPLE, space_tensors
from foible.training.augment import Augmentation
from foible.training.beginnings import start_from
from foible.training.half import multiplied
from foible.types import Images, LatentSpace
from foible.zoo.files import Header
from foible.zoo.resolve import resolve


class DiffusionLearner:
    """Train a denoiser.

    Args:
        domain: gives image shape and classes.
        steps: denoising steps of the stored generator.
        guidance: guidance of the stored generator.
        classless: share of images shown without their class, which is what guidance needs.
        augment: changes to training images, as in `Augmentation`.
        autoencoder: a spatial VAE (zoo name or model file) in whose latents the noise is taken away; None = pixels.
        start: a trained denoiser of the same network whose training goes on, as in `start_from`.
        half: multiply in bfloat16 while training, as in `multiplied`.
        **config: parameters of `Denoiser`.
    """

    role, family, watch = "generators", "diffusion", None
    unaveraged: tuple[str, ...] = ()

    def __init__(
        self,
        domain: Domain,
        steps: int = 10,
        guidance: float = 2.0,
        classless: float = 0.1,
        augment: dict[str, Any] | None = None,
        autoencoder: str | None = None,
        start: str | None = None,
        half: bool = False,
        **config: Any,
    ) -> None:
        self.domain, self.classless, self.augment = domain, classless, Augmentation(**(augment or {}))
        self.half = half
        network = {"shape": list(domain.shape), "classes": len(domain.classes), **config}
        known = spatial_vae(autoencoder) if autoencoder else None
        if known:
            network["autoencoder"] = {"widths": list(known.network.widths), "latent": known.network.latent}
        self.config = {"network": network, "steps": steps, "guidance": guidance}
        self.network = Denoiser(**network)
        if known:
            self.network.take(known.network, known.space)
        if start:
            start_from(self.network, start)
        self.scheduler = ddim(TRAINED_STEPS, self.network.reach)

    @property
    def parts(self) -> Mapping[str, nn.Module]:
        """The denoiser, without an autoencoder that it may work on."""
        return {"denoiser": self.network.unet}

    def losses(self, images: Images, labels: Tensor, progress: float) -> Iterator[tuple[str, Tensor]]:  # noqa: ARG002
        """Squared error of the velocity."""
        hidden = torch.rand(len(labels)) < self.classless
        seen = torch.where(hidden, torch.full_like(labels, self.network.classes), labels)
        yield "denoiser", self._errors(self.augment(images), seen).mean()

    def measure(self, images: Images, labels: Tensor) -> dict[str, Tensor]:
        """Squared error of the velocity per image."""
        return {"velocity_error": self._errors(images, labels)}

    def header(self) -> Header:
        """How the trained generator is rebuilt."""
        return Header(role=self.role, family=self.family, domain=self.domain.name, config=self.config)

    def tensors(self, data: RealImages) -> dict[str, Tensor]:  # noqa: ARG002
        """Network weights, and the latent space measured on normal draws."""
        draws = torch.randn(SPACE_SAMPLE, *self.network.picture, generator=torch.Generator().manual_seed(0))
        return {**self.network.state_dict(), **space_tensors(LatentSpace.measured(draws))}

    @staticmethod
    def figures(model: Diffusion, images: Images, labels: Tensor) -> dict[str, Tensor]:
        """None that a test image can give."""
        del model, images, labels
        return {}

    def _errors(self, images: Images, labels: Tensor) -> Tensor:
        clean = self.network.pictured(images)
        noise = torch.randn_like(clean)
        spread = (torch.arange(len(images)) + torch.rand(())) / len(images)  # times spread evenly: steadier gradients
        times = (spread[torch.randperm(len(images))] * TRAINED_STEPS).long()
        noisy = self.scheduler.add_noise(clean, noise, times)
        velocity = self.scheduler.get_velocity(clean, noise, times)
        with multiplied(self.half, self.network):
            predicted: Tensor = self.network(noisy, times, labels)
        errors: Tensor = (predicted.float() - velocity).square().flatten(1).mean(1)
        return errors


def spatial_vae(use: str) -> Any:
    """A VAE whose latents are pictures."""
    model = resolve("generators", use, {}).model
    if not isinstance(getattr(model, "network", None), SpatialVAE):
        raise RecipeError(f"autoencoder: '{use}' is no VAE with a latent picture", 'train one: network = "spatial"')
    return model
