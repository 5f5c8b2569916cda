"""A small class-conditional U-Net for denoising, from diffusers.

Images are folded (2x2 pixels become channels) before the network sees them: on a CPU this gives four times the width
for the same time. Or the noise is taken from the latent pictures of a VAE instead of from pixels (Rombach et al., "High-
resolution image synthesis with latent diffusion models", 2022), which leaves the fine grain to its decoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from foible.generators.library import import_diffusers
from foible.generators.networks.vae import SpatialVAE
from foible.types import Images, LatentSpace


class Denoiser(nn.Module):
    """Predicts the velocity of noisy pictures at a time step, given their class or none.

    A picture is an image in [-1, 1], or where there is an autoencoder the latent of an image, of about unit size. Its
    height and width must be divisible by `fold` times 2 per extra width.

    Args:
        shape: channels, height, width of the images.
        classes: number of classes; the class after the last means "no class".
        widths: maps at each resolution.
        layers: residual blocks per resolution.
        fold: side of the squares of pixels that become channels.
        attention: whether the lowest resolution has self-attention.
        autoencoder: `widths` and `latent` of the spatial VAE whose latents are the pictures; None = pixels.
    """

    autoencoder: SpatialVAE | None
    size: Tensor

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        widths: tuple[int, ...] = (32, 64),
        layers: int = 1,
        fold: int = 2,
        attention: bool = False,
        autoencoder: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.shape, self.classes, self.fold = tuple(shape), classes, fold
        self.autoencoder = SpatialVAE(shape, **autoencoder).eval().requires_grad_(False) if autoencoder else None
        if self.autoencoder is not None:
            self.register_buffer("size", torch.ones(()))
        self.picture = self.autoencoder.picture if self.autoencoder is not None else self.shape
        self.reach = 1.0 if self.autoencoder is None else 5.0
        channels = self.picture[0] * fold * fold
        plain = len(widths) - 1
        self.unet = import_diffusers("a diffusion model").UNet2DModel(
            sample_size=self.picture[1] // fold,
            in_channels=channels,
            out_channels=channels,
            block_out_channels=tuple(widths),
            layers_per_block=layers,
            down_block_types=("DownBlock2D",) * plain + ("AttnDownBlock2D" if attention else "DownBlock2D",),
            up_block_types=("AttnUpBlock2D" if attention else "UpBlock2D",) + ("UpBlock2D",) * plain,
            add_attention=attention,
            attention_head_dim=min(widths[-1], 32),
            norm_num_groups=8,
            num_class_embeds=classes + 1,
        )
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def take(self, autoencoder: SpatialVAE, space: LatentSpace) -> None:
        """Work on the latents of this trained autoencoder from now on, scaled by their spread."""
        assert self.autoencoder is not None
        self.autoencoder.load_state_dict(autoencoder.state_dict())
        self.size.fill_(float(space.step.square().mean().sqrt()))

    def train(self, mode: bool = True) -> Self:
        """Only the denoising is trained: the autoencoder stays as it is."""
        super().train(mode)
        if self.autoencoder is not None:
            self.autoencoder.eval()
        return self

    @torch.no_grad()
    def pictured(self, images: Images) -> Tensor:
        """Images in [0, 1] as pictures."""
        return images * 2 - 1 if self.autoencoder is None else self.autoencoder.posterior(images)[0] / self.size

    def shown(self, pictures: Tensor) -> Images:
        """Pictures as images in [0, 1]."""
        if self.autoencoder is not None:
            return self.autoencoder(pictures * self.size)  # type: ignore[no-any-return]
        return pictures.clamp(-1, 1).add(1).div(2).contiguous()

    def forward(self, pictures: Tensor, times: Tensor, labels: Tensor) -> Tensor:
        """Velocities of the same shape as the pictures."""
        folded = functional.pixel_unshuffle(pictures, self.fold).contiguous(memory_format=torch.channels_last)
        moved: Tensor = self.unet(folded, times, class_labels=labels, return_dict=False)[0]
        return functional.pixel_shuffle(moved, self.fold)


def ddim(steps_trained: int, reach: float) -> Any:
    """The DDIM sampler of the family: cosine noise, velocities, predicted pictures kept in [-reach, reach]."""
    return import_diffusers("a diffusion model").DDIMScheduler(
        num_train_timesteps=steps_trained,
        beta_schedule="squaredcos_cap_v2",
        prediction_type="v_prediction",
        timestep_spacing="trailing",
        clip_sample=True,
        clip_sample_range=reach,
    )
