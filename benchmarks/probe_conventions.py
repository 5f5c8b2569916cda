"""Does the probe find out how a model wants its images, on networks it was not tuned on?

    python benchmarks/probe_conventions.py [NAME ...]

Each classifier of the zoo is put behind the inverse of a convention, so that it wants its images in that convention, and is handed
over without a word. A network that wants standardised images wants those of 2,000 other images than the probe sees. Counted:
right (the answer is that of the classifier itself on at least 99 % of 2,000 images), asked (two conventions cannot be told apart,
and the user is asked; the right one, or one as good, is among those offered), wrong. The rules were chosen on other networks:
`mnist-lenet1`, `mnist-lenet4`, `fashion-vgg`, `fashion-reference-separable`, `emnist-vgg`, `svhn-vgg`, `svhn-teacher`,
`svhn-reference-separable`, `cifar10-vgg` and `cifar10-teacher`. Real images of each domain are needed (`foible data get`).
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from typing import Any

import torch
from torch import Tensor, nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.adapting.conventions import Undecided
from foible.classifiers.adapting.settings import read_settings
from foible.classifiers.load import load_classifier
from foible.classifiers.network import ModuleNetwork
from foible.domains import load_domain, real_images
from foible.errors import ModelError
from foible.zoo import entry, load_model
from measure import RESULTS, write

NETWORKS = (
    "mnist-lenet5",
    "mnist-reference-residual",
    "fashion-teacher",
    "fashion-reference-residual",
    "emnist-reference-separable",
    "svhn-reference-convolutional",
    "cifar10-reference-convolutional",
    "cifar10-reference-separable",
)
LOOKED_AT = 2000  # images, other than most of the probe's own
SAME = 0.99  # the share of them on which a right convention gives the same answers
CONVENTIONS = ("0 to 1", "0 to 255", "-1 to 1", "standardised", "inverted")
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
        if self.convention == "inverted":
            return 1 - x
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

    def same(**said: Any) -> float:
        found = load_classifier(wants, domain=domain, data=real, **said)
        with torch.inference_mode():
            return float((found(images).argmax(1) == stored(images).argmax(1)).float().mean())

    try:
        share = same()
    except Undecided as error:
        offered = max(same(**read_settings(said)) for said in error.choices)
        return (
            f"{'asked' if offered >= SAME else 'wrong: asked'}: the same answer on {offered:.1%} with the best offered"
        )
    except ModelError as error:
        return f"wrong: {error.message[:60]}"
    return f"{'right' if share >= SAME else 'wrong'}: the same answer on {share:.1%}"


def main() -> None:
    """Print one line for each network and convention, keep them with those of other networks, then the counts of all."""
    for name in sys.argv[1:] or NETWORKS:
        colour = load_domain(entry(name).domain).shape[0] == 3
        said = {}
        for convention in (*CONVENTIONS, *(COLOURED if colour else ())):
            begin = time.process_time()
            said[convention] = outcome(name, convention)
            print(f"{name:<32}{convention:<14}{said[convention]}  ({time.process_time() - begin:.1f} s)", flush=True)
        keep(name, said)


def keep(name: str, said: dict[str, str]) -> None:
    """Add a network to the figures."""
    known = json.loads(RESULTS.read_text()).get("probe_conventions", {}).get("cases", {})
    cases = known | {name: said}
    counts = Counter(outcome.partition(":")[0] for network in cases.values() for outcome in network.values())
    write("probe_conventions", {"cases": cases, "counts": dict(counts)}, quiet=True)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
