"""Does the probe find out how a model wants its images, on networks it was not tuned on?

    python benchmarks/probe_conventions.py [NAME ...]

Each classifier of the zoo is put behind the inverse of a convention, so that it wants its images in that convention, and is handed
over without a word. A network that wants standardised images wants
those of 2,000 other images than the probe sees. Counted: right (the answer is that of the classifier itself on at least 99 % of
2,000 images), asked (two conventions cannot be told
apart, and the user is asked), wrong. Real images of each domain are needed (`foible data get`).
"""

from __future__ import annotations

import json
import sys
import time

import torch
from torch import Tensor, nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.adapting.conventions import Undecided
from foible.classifiers.load import load_classifier
from foible.classifiers.network import ModuleNetwork
from foible.domains import load_domain, real_images
from foible.errors import ModelError
from foible.zoo import entry, load_model

NETWORKS = (
    "mnist-lenet1",
    "mnist-lenet5",
    "fashion-teacher",
    "svhn-teacher",
    "cifar10-teacher",
    "cifar10-reference-separable",
)
LOOKED_AT, SAME = (
    2000,
    0.99,
)  # images (other than most of the probe's own), and the share on which a right one answers the same
CONVENTIONS = ("0 to 1", "0 to 255", "-1 to 1", "standardised")
COLOURED = ("ImageNet", "blue first", "Caffe")
IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CAFFE = (103.939, 116.779, 123.68)  # subtracted from 0 to 255, blue first


class Wants(nn.Module):
    """A network that wants its images in a convention: it undoes the convention, then does what it did before."""

    def __init__(self, stored: AdaptedClassifier, convention: str, images: Tensor) -> None:
        super().__init__()
        assert isinstance(stored.network, ModuleNetwork)
        self.network, self.before, self.convention = stored.network.module.eval(), stored.preprocessing, convention
        spread = images.std((0, 2, 3)), images.mean((0, 2, 3))
        self.std, self.mean = (part.view(1, -1, 1, 1) for part in spread)

    def forward(self, inputs: Tensor) -> Tensor:
        """Scores of images in the convention."""
        scores: Tensor = self.network(self.before(self.undone(inputs)))
        return scores

    def undone(self, x: Tensor) -> Tensor:
        """The same images in [0, 1]."""
        if self.convention == "0 to 255":
            return x / 255
        if self.convention == "-1 to 1":
            return (x + 1) / 2
        if self.convention == "standardised":
            return x * self.std + self.mean
        if self.convention == "ImageNet":
            mean, std = (torch.tensor(part).view(1, 3, 1, 1) for part in IMAGENET)
            return x * std + mean
        if self.convention == "blue first":
            return x.flip(1)
        if self.convention == "Caffe":
            return ((x + torch.tensor(CAFFE).view(1, 3, 1, 1)) / 255).flip(1)
        return x


def outcome(name: str, convention: str) -> str:
    """What becomes of one network in one convention."""
    about = entry(name)
    domain = load_domain(about.domain)
    real = real_images(domain)
    images = real.images(torch.randperm(len(real.labels), generator=torch.Generator().manual_seed(1))[:LOOKED_AT])
    stored = load_model(about.path(), "classifiers")
    wants = Wants(stored, convention, images)
    try:
        found = load_classifier(wants, domain=domain, data=real)
    except Undecided:
        return "asked"
    except ModelError as error:
        return f"wrong: {error.message[:60]}"
    with torch.inference_mode():
        same = float((found(images).argmax(1) == stored(images).argmax(1)).float().mean())
    return f"{'right' if same >= SAME else 'wrong'}: the same answer on {same:.1%}"


def main() -> None:
    """Print one line for each network and convention, then the counts."""
    counts: dict[str, int] = {}
    for name in sys.argv[1:] or NETWORKS:
        colour = load_domain(entry(name).domain).shape[0] == 3
        for convention in (*CONVENTIONS, *(COLOURED if colour else ())):
            begin = time.process_time()
            said = outcome(name, convention)
            counts[said.partition(":")[0]] = counts.get(said.partition(":")[0], 0) + 1
            print(f"{name:<30}{convention:<14}{said}  ({time.process_time() - begin:.1f} s)", flush=True)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
