"""What may change in an image: DeepXplore's lighting, occlusion and blackout, as limits on the direction of a step.

Pei, Cao, Yang and Jana, DeepXplore, SOSP 2017. They are about pictures: latents must have channels, height and width.

    light       every pixel moves alike: by the mean direction
    occlusion   only a rectangle moves, the same for the whole search
    blackout    a small rectangle, another one at every step, and only towards dark

Differs from the original in: rectangles lie anywhere (published, occlusion always at the top left); blackout takes a step
like the others instead of one unit of grey.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.protocols import Lanes
from foible.seeding import uniform

Constraint = Literal["none", "light", "occlusion", "blackout"]
CONSTRAINTS = ("none", "light", "occlusion", "blackout")
SIDES = {"occlusion": 0.36, "blackout": 0.22}  # of the image: 10 x 10 and 6 x 6 pixels of 28 x 28


def refuse_flat(constraint: Constraint, shape: tuple[int, ...]) -> None:
    """Pictures have a shape; latents of other generators have none that light or a patch could act on."""
    if constraint != "none" and len(shape) != 3:
        raise RecipeError(
            f"constraint '{constraint}' needs pictures, latents here have shape {list(shape)}",
            'generator = "pixels", or constraint = "none"',
        )


def allowed(directions: Tensor, constraint: Constraint, lanes: Lanes, steps: Tensor) -> Tensor:
    """What a constraint leaves of directions (L, *latent) in the steps (L,) that the lanes are at."""
    if constraint == "none":
        return directions
    if constraint == "light":
        return directions.mean((1, 2, 3), keepdim=True).expand_as(directions)
    address = torch.zeros_like(steps) if constraint == "occlusion" else steps
    mask = patches(directions.shape[1:], SIDES[constraint], lanes, address)
    if constraint == "occlusion":
        return directions * mask
    dark = (directions * mask).sum((1, 2, 3), keepdim=True) < 0
    return torch.where(dark, -mask, 0.0).expand_as(directions)


def patches(shape: tuple[int, ...], side: float, lanes: Lanes, address: Tensor) -> Tensor:
    """A rectangle for each lane, 1 inside and 0 outside (L, 1, H, W)."""
    height, width = shape[-2:]
    tall, wide = max(1, round(side * height)), max(1, round(side * width))
    corner = uniform(lanes.streams.each("patch", lanes.attempts, address), (2,))
    top, left = (corner * torch.tensor([height - tall + 1, width - wide + 1])).long().T[:, :, None]
    rows, columns = torch.arange(height), torch.arange(width)
    across = (columns >= left) & (columns < left + wide)
    down = (rows >= top) & (rows < top + tall)
    inside: Tensor = down[:, None, :, None] & across[:, None, None, :]
    return inside.float()
