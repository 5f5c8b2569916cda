"""The published MNIST loop of DeepXplore (peikexin9/deepxplore: MNIST/gen_diff.py, utils.py), transcribed to torch.

As published: one seed at a time; one gradient of all three models and of one uncovered neuron of each, chosen once per seed; steps
without bounds along the gradient divided by its root mean square, under one of three constraints; each model asked again after each step; the
first disagreement of any two ends a seed, is saved as two PNGs, and covers: every channel of every layer (convolutions, pools, hidden layers,
logits, softmax), neuron by neuron in a dictionary. Settings are those of its README.

Left out, in its favour: that it builds Keras models anew for every update and a graph for every seed, and its printing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

LAMBDA1, LAMBDA2, STEP, ITERATIONS, THRESHOLD = 1.0, 0.1, 10.0, 20, 0.0
OCCLUSION, BLACKOUT = 10, 6  # pixels


@dataclass
class Tally:
    """What came of some seeds: of those found, `kept` still disagree once they are cut to [0, 1] and 8 bits."""

    found: int = 0
    kept: int = 0
    tried: int = 0
    steps: int = 0


class Model:
    """A network that shows what each layer gives, and which of its neurons were covered."""

    def __init__(self, network: nn.Module, probe: Tensor) -> None:
        self.parts = [(n, part) for n, part in network.named_modules() if not any(part.children())]
        widths = {name: values.shape[1] for name, values in self.layers(probe).items()}
        self.covered = {(name, i): False for name, width in widths.items() for i in range(width)}

    def layers(self, image: Tensor) -> dict[str, Tensor]:
        """Outputs after the activation function, by layer; the last two are logits and softmax."""
        shown: dict[str, Tensor] = {}
        for name, part in self.parts:
            image = part(image)
            if isinstance(part, nn.ReLU | nn.MaxPool2d):
                shown[name] = image
        return shown | {"logits": image, "softmax": image.softmax(1)}

    @torch.no_grad()
    def answer(self, image: Tensor) -> int:
        """The class it takes an image for."""
        for _, part in self.parts:
            image = part(image)
        return int(image.argmax())

    @torch.no_grad()
    def update(self, image: Tensor) -> None:
        """Mark what one image covers, neuron by neuron."""
        for name, values in self.layers(image).items():
            output = values[0].numpy()
            scaled = (output - output.min()) / (output.max() - output.min())
            for neuron in range(len(scaled)):
                if np.mean(scaled[neuron]) > THRESHOLD and not self.covered[name, neuron]:
                    self.covered[name, neuron] = True

    def aim(self, dice: random.Random) -> tuple[str, int]:
        """A neuron that is not covered; any where all are."""
        return dice.choice([key for key, done in self.covered.items() if not done] or list(self.covered))


def generate(
    networks: Sequence[nn.Module], images: Sequence[Tensor], constraint: str, folder: Path, seed: int
) -> Tally:
    """Drive the first network away from the others, from each image (1, 1, H, W) in turn."""
    dice, tally = random.Random(seed), Tally()
    models = [Model(network, images[0]) for network in networks]
    for number, origin in enumerate(images):
        agreed, *others = [model.answer(origin) for model in models]
        if set(others) != {agreed}:
            for model in models:
                model.update(origin)
            continue
        tally.tried += 1
        aims, image = [model.aim(dice) for model in models], origin
        for _ in range(ITERATIONS):
            tally.steps += 1
            slope = CONSTRAINTS[constraint](gradient(models, aims, image, agreed), dice)
            image = image + STEP * slope
            if disagree(models, image):
                for model in models:
                    model.update(image)
                saved = [save(folder / f"{number}-{name}.png", x) for name, x in (("found", image), ("origin", origin))]
                tally.found += 1
                tally.kept += disagree(models, saved[0])
                break
    return tally


def disagree(models: Sequence[Model], image: Tensor) -> bool:
    """Whether any two answer differently."""
    return len({model.answer(image) for model in models}) > 1


def gradient(models: Sequence[Model], aims: Sequence[tuple[str, int]], image: Tensor, agreed: int) -> Tensor:
    """Up the joint objective, divided by its root mean square."""
    image = image.detach().requires_grad_()
    total: Any = 0.0
    for place, (model, (layer, neuron)) in enumerate(zip(models, aims, strict=True)):
        shown = model.layers(image)
        score = shown["logits"][0, agreed]
        total = total + (score if place else -LAMBDA1 * score) + LAMBDA2 * shown[layer][0, neuron].mean()
    (slope,) = torch.autograd.grad(total, image)
    return slope / (slope.square().mean().sqrt() + 1e-5)


def save(path: Path, image: Tensor) -> Tensor:
    """Write an image, cut to what a file can hold, and give what was written."""
    pixels = np.clip(image[0, 0].numpy() * 255, 0, 255).astype("uint8")
    Image.fromarray(pixels).save(path)
    return torch.from_numpy(pixels.astype("float32") / 255)[None, None]


def light(slope: Tensor, dice: random.Random) -> Tensor:  # noqa: ARG001
    """Every pixel by the mean."""
    return torch.ones_like(slope) * slope.mean()


def occlusion(slope: Tensor, dice: random.Random) -> Tensor:  # noqa: ARG001
    """Only the rectangle at the top left."""
    masked = torch.zeros_like(slope)
    masked[..., :OCCLUSION, :OCCLUSION] = slope[..., :OCCLUSION, :OCCLUSION]
    return masked


def blackout(slope: Tensor, dice: random.Random) -> Tensor:
    """A small rectangle anywhere goes dark, where it would do so on the whole."""
    top, left = (dice.randint(0, side - BLACKOUT) for side in slope.shape[-2:])
    patch = slope[..., top : top + BLACKOUT, left : left + BLACKOUT]
    masked = torch.zeros_like(slope)
    if patch.mean() < 0:
        masked[..., top : top + BLACKOUT, left : left + BLACKOUT] = -1
    return masked


CONSTRAINTS: Mapping[str, Callable[[Tensor, random.Random], Tensor]] = {
    "light": light,
    "occlusion": occlusion,
    "blackout": blackout,
}
