"""Images near the line: good ones that are not perfect, and bad ones that are not absurd.

Noise is easily told from a real image, and a judge that was fitted on it learns nothing about the failures of a search. Those lie
closer: decodes of latents that were moved a little (good) or far (bad), strokes that are no digit, halves, warps.
Randomness comes from torch's current generator, as in `Augmentation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foible.domains import Domain
from foible.domains.sources import data_folders
from foible.errors import DataError
from foible.faces import Encoder
from foible.images import blurred
from foible.training.augment import warped
from foible.training.foreign import fitted_to
from foible.training.invalid import FITTED, Kind, background, mixture
from foible.types import Images
from foible.zoo.catalogue import entries
from foible.zoo.resolve import resolve

LETTERS = "emnist_letters.npz"  # in a data folder; handwritten letters are clean strokes and no digits
LIKE_DIGITS = "BGILOQSZ"
CHUNK = 32


def plain(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """As they are."""
    return images


def bent(images: Images, labels: Tensor, most: float) -> Images:  # noqa: ARG001
    """Pulled about by up to this share of the image."""
    return warped(images, most)


def dimmed(images: Images, labels: Tensor, left: float) -> Images:  # noqa: ARG001
    """Darker: this share of all brightness is left."""
    return images * left


def flat(images: Images, labels: Tensor, left: float = 0.1) -> Images:  # noqa: ARG001
    """This share of the contrast is left."""
    mean = images.mean((1, 2, 3), keepdim=True)
    return (images - mean) * left + mean


def soft(images: Images, labels: Tensor, width: float) -> Images:  # noqa: ARG001
    """Blurred by a Gaussian of this share of the side."""
    return blurred(images, width * images.shape[3])


def halved(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Only the upper or the lower half is left."""
    middle = images.shape[2] // 2
    upper = torch.arange(images.shape[2])[:, None] < middle
    shown = torch.where((torch.rand(len(images), 1, 1, 1) < 0.5), upper, ~upper)
    return torch.where(shown, images, background(images))


def mirrored(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Left and right swapped."""
    return images.flip(3)


def turned(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """On its side."""
    return torch.rot90(images, 1, (2, 3))


def upside_down(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Turned by half."""
    return torch.rot90(images, 2, (2, 3))


def inverted(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Dark and light swapped."""
    return 1 - images


def nonsense(images: Images, labels: Tensor) -> Images:
    """Everything that nobody would take for an image of the domain."""
    return mixture(images, labels, FITTED)


def letters(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Handwritten letters that nobody takes for a digit."""
    path = next((p for folder in data_folders() if (p := folder / LETTERS).is_file()), None)
    if path is None:
        raise DataError(f"no '{LETTERS}' in the data folders", "set FOIBLE_DATA, or leave the kind 'letters' out")
    with np.load(path) as members:
        pixels, names = members["x_train"], members["y_train"]
    unlike = np.flatnonzero(~np.isin(names, [ord(c) - ord("A") for c in LIKE_DIGITS]))
    index = unlike[torch.randint(len(unlike), (len(images),)).numpy()]
    return fitted_to(torch.from_numpy(pixels[index]).float().div(255)[:, None], tuple(images.shape[1:]))  # type: ignore[arg-type]


GOOD: Mapping[str, Kind] = {
    "real": plain,
    "bent": partial(bent, most=0.05),
    "dimmed": partial(dimmed, left=0.5),
    "soft": partial(soft, width=1 / 30),
}
BAD: Mapping[str, Kind] = {
    "halved": halved,
    "mirrored": mirrored,
    "turned": turned,
    "upside-down": upside_down,
    "inverted": inverted,
    "twisted": partial(bent, most=0.2),
    "dark": partial(dimmed, left=0.15),
    "flat": flat,
    "blurred": partial(soft, width=0.11),
    "nonsense": nonsense,
    "letters": letters,
}


def good_kinds(domain: Domain) -> dict[str, Kind]:
    """Mild changes of real images, and what the zoo's generators make where they are at home."""
    return {**GOOD, **_made(domain, near=True)}


def bad_kinds(domain: Domain, names: tuple[str, ...]) -> dict[str, Kind]:
    """The named kinds, as far as generators and data for them are there."""
    offered = {**BAD, **_made(domain, near=False)}
    return {name: offered[name] for name in names if name in offered}


def _made(domain: Domain, near: bool) -> dict[str, Kind]:
    """Kinds made by the generators of the zoo that are for this domain."""
    kinds: dict[str, Kind] = {}
    for name, found in entries().items():
        if found.role != "generators" or found.domain != domain.name or not found.path().is_file():
            continue
        model: Any = resolve("generators", name, {}).model
        if found.family == "diffusion":  # its latents are noise: longer ones make no image that is merely bad
            if near:
                kinds["diffused"] = partial(_sampled, model, (1.0, 1.0))
        elif isinstance(model, Encoder):
            kinds |= {"decoded": partial(_moved, model, 0.5)} if near else {"far decodes": partial(_moved, model, 2.0)}
        else:
            spread = (1.0, 1.0) if near else (2.5, 4.0)
            kinds["sampled" if near else "far samples"] = partial(_sampled, model, spread)
    return kinds


def _moved(model: Any, steps: float, images: Images, labels: Tensor) -> Images:
    """Decodes of the images' latents, moved so many standard deviations per coordinate."""
    return _chunked(lambda x, y: model.decode(_noised(model, model.encode(x, y), steps), y), images, labels)


def _noised(model: Any, latents: Tensor, steps: float) -> Tensor:
    moved: Tensor = latents + steps * model.space.step * torch.randn_like(latents)
    return moved


def _sampled(model: Any, spread: tuple[float, float], images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Images made for the labels from latents so many times as long as usual."""
    rng = torch.Generator().manual_seed(int(torch.randint(2**31, ())))
    latents = model.sample(labels, rng)
    longer = torch.empty(len(labels), *[1] * (latents.dim() - 1)).uniform_(*spread) if spread[1] > spread[0] else 1.0
    return _chunked(model.decode, latents * longer, labels)


@torch.no_grad()
def _chunked(function: Callable[..., Tensor], *rows: Tensor) -> Images:
    parts = [function(*part) for part in zip(*(r.split(CHUNK) for r in rows), strict=True)]
    return torch.cat(parts).clamp(0, 1)
