"""A small class-conditional U-Net for denoising, from diffusers.

Images are folded (2x2 pixels become channels) before the network sees them: on a CPU this gives four times the width
for the same time.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from foible.generators.library import import_diffusers
from foible.types import Images


class Denoiser(nn.Module):
    """Predicts the velocity of noisy images in [-1, 1] at a time step, given their class or none.

    Args:
        shape: channels, height, width of the images; height and width divisible by `fold` times 2 per extra width.
        classes: number of classes; the class after the last means "no class".
        widths: maps at each resolution.
        layers: residual blocks per resolution.
        fold: side of the squares of pixels that become channels.
        attention: whether the lowest resolution has self-attention.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        widths: tuple[int, ...] = (32, 64),
        layers: int = 1,
        fold: int = 2,
        attention: bool = False,
    ) -> None:
        super().__init__()
        self.shape, self.classes, self.fold = tuple(shape), classes, fold
        channels = shape[0] * fold * fold
        plain = len(widths) - 1
        self.unet = import_diffusers("a diffusion model").UNet2DModel(
            sample_size=shape[1] // fold,
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

    def forward(self, images: Images, times: Tensor, labels: Tensor) -> Tensor:
        """Velocities of the same shape as the images."""
        folded = functional.pixel_unshuffle(images, self.fold).contiguous(memory_format=torch.channels_last)
        moved: Tensor = self.unet(folded, times, class_labels=labels, return_dict=False)[0]
        return functional.pixel_shuffle(moved, self.fold)


def ddim(steps_trained: int) -> Any:
    """The DDIM sampler of the family: cosine noise, velocities, predicted images kept in [-1, 1]."""
    return import_diffusers("a diffusion model").DDIMScheduler(
        num_train_timesteps=steps_trained,
        beta_schedule="squaredcos_cap_v2",
        prediction_type="v_prediction",
        timestep_spacing="trailing",
        clip_sample=True,
    )
