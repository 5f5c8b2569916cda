"""How large must a VAE be? `foible study vae` on a part of the training images of MNIST and Fashion-MNIST.

Few images and epochs, so that twenty trainings take minutes: compare sizes and kinds with each other, not with models that were
trained for long. Goes on where it stopped.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

import numpy as np

from foible.domains import load_domain, real_images
from foible.domains.images import ImageArray
from foible.training.vae_study import study_lines, vae_study
from measure import write

SIZES = (4, 10, 40, 100, 400)


def part_of(domain: str, training: int, testing: int, folder: Path) -> Path:
    """The first so many images of both sets, in a file of their own."""
    path, arrays = folder / f"{domain}-{training}-{testing}.npz", {}
    if path.is_file():
        return path
    for split, count in (("train", training), ("test", testing)):
        data = real_images(load_domain(domain), None, split)
        assert isinstance(data, ImageArray)
        arrays |= {f"x_{split}": data.pixels[:count], f"y_{split}": data.labels[:count].numpy().astype(np.uint8)}
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return path


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--domains", nargs="*", default=["mnist", "fashion"])
    arguments.add_argument("--images", type=int, default=6000, help="to train on")
    arguments.add_argument("--tests", type=int, default=2000)
    arguments.add_argument("--epochs", type=int, default=5)
    arguments.add_argument("--folder", type=Path, default=Path("vae-runs"))
    chosen = arguments.parse_args()
    for domain in chosen.domains:
        data = part_of(domain, chosen.images, chosen.tests, chosen.folder)
        found = vae_study(
            domain,
            SIZES,
            chosen.folder / domain,
            epochs=chosen.epochs,
            data=str(data),
            report=lambda text: print(text, flush=True),
        )
        print("\n".join(study_lines(found)), flush=True)
        write(f"vae_sizes ({domain})", {"images": chosen.images, **asdict(found)})


if __name__ == "__main__":
    main()
