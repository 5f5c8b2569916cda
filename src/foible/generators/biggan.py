"""BigGAN from a local folder: truncated normal latents and one of many classes to a photograph.

The network and its file format are those of the package pytorch-pretrained-biggan: `config.json` and
`pytorch_model.bin`. Weights are never downloaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from foible.errors import MissingExtra, ModelError, RecipeError
from foible.generators.gan import truncated_normal
from foible.generators.stored import SPACE_SAMPLE
from foible.types import Images, Latents, LatentSpace

BOUND = 2.0  # latents were drawn within two standard deviations when the network was trained


class BigGAN:
    """Class-conditional photographs.

    Args:
        folder: where `config.json` and `pytorch_model.bin` are.
        shape: channels, height and width of the images handed on; the network's own are resized.
        truncation: above 0, at most 1; less = more typical and less varied images. Bounds follow it.
    """

    def __init__(self, folder: str, shape: tuple[int, int, int] = (3, 224, 224), truncation: float = 1.0) -> None:
        if not 0 < truncation <= 1:
            raise RecipeError(f"truncation must be above 0 and at most 1, got {truncation}", "1.0 truncates least")
        self.name, self.shape, self.truncation = Path(folder).name, tuple(shape), truncation
        self.network = load_biggan(Path(folder)).eval().requires_grad_(False)
        self.classes = int(self.network.config.num_classes)
        uniform = torch.rand(SPACE_SAMPLE, self.network.config.z_dim, generator=torch.Generator().manual_seed(0))
        self.space = LatentSpace.measured(truncation * truncated_normal(uniform, BOUND))

    def to(self, device: torch.device) -> None:
        """Move the network to a device; the space stays where searches work, on the CPU."""
        self.network.to(device)

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Truncated normal latents; the class is not in the latent."""
        uniform = torch.rand((len(labels), *self.space.shape), generator=rng)
        return self.space.clamp(self.truncation * truncated_normal(uniform, BOUND))

    def decode(self, latents: Latents, labels: Tensor) -> Images:
        """Images in [0, 1]: the network's tanh output, mapped and resized by area."""
        chosen = functional.one_hot(labels, self.classes).to(latents.dtype)
        images: Images = self.network(latents, chosen, self.truncation)
        return functional.interpolate(images.add(1).div(2), self.shape[1:], mode="area")


def load_biggan(folder: Path) -> Any:
    """The network in a folder."""
    missing = [n for n in ("config.json", "pytorch_model.bin") if not (folder / n).is_file()]
    if missing:
        raise ModelError(
            f"no BigGAN in '{folder}': {' and '.join(missing)} not found",
            "put the files of biggan-deep-128, -256 or -512 there (see pytorch-pretrained-biggan)",
        )
    try:
        from pytorch_pretrained_biggan import BigGAN as Network
    except ImportError:
        raise MissingExtra("pytorch-pretrained-biggan", "biggan", "a BigGAN") from None
    try:
        return Network.from_pretrained(str(folder))
    except (RuntimeError, ValueError, OSError) as error:
        raise ModelError(
            f"the BigGAN in '{folder}' cannot be loaded: {str(error).splitlines()[0]}", "copy both files again"
        ) from error
