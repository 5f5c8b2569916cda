"""What the judge makes of images that are surely good or surely none of its domain's.

- real test images that no part of it was fitted on: share called invalid
- the same in black for white: share called valid
- images of the other domains, and handwritten letters: share called valid

    python benchmarks/judge_strangers.py mnist fashion svhn cifar10
"""

from __future__ import annotations

import argparse
from typing import Any

from foible.domains import domain_names, load_domain, real_images
from foible.errors import FoibleError
from foible.metrics import rate
from foible.training.foreign import fitted_to
from foible.types import Images
from foible.validators.judge import Judge
from foible.validators.usual import some
from measure import write

OTHERS = 100
FITTED = 5000  # of the test images, at most, the judge was fitted and measured on those that come first in this order


def shares(judge: Judge, images: Images, called_valid: bool) -> list[float | None]:
    """The share called valid, or invalid, with its 95 % interval."""
    valid = judge.judgement(images).valid
    found = rate(int((valid == called_valid).sum()), len(valid))
    return [found.share, found.low, found.high]


def strangers(name: str, count: int) -> dict[str, Any]:
    """The figures of one domain's judge, with so many real images."""
    domain = load_domain(name)
    judge, data = Judge(domain), real_images(domain)
    unseen = some(data, FITTED + count)[FITTED:]
    real = data.images(unseen)
    figures: dict[str, Any] = {"company": judge.company(), "real called invalid": shares(judge, real, False)}
    figures["black for white called valid"] = shares(judge, 1 - real[:OTHERS], True)
    for other in domain_names():
        if other == name:
            continue
        try:
            foreign = real_images(load_domain(other))
        except FoibleError:
            continue  # its images are not here
        images = fitted_to(foreign.images(some(foreign, OTHERS)), domain.shape)
        figures[f"{other} called valid"] = shares(judge, images, True)
    return figures


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("domains", nargs="+")
    options.add_argument("--real", type=int, default=1000)
    chosen = options.parse_args()
    for name in chosen.domains:
        write(f"judge_strangers_{name}", strangers(name, chosen.real))


if __name__ == "__main__":
    main()
