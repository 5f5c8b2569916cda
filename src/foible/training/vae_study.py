"""How large a VAE's latent space must be: how many test images are still recognised after encoding and decoding.

Kang, Feldt, Yoo (SINVAD, TOSEM 2024), RQ4, for linear and convolutional VAEs. Differs from the published study in: networks
are in evaluation mode (there the dropout of the convolutional one was left on), the reconstruction is that of the encoder's
mean and not of a sample, every share has its interval, and the share of the real images themselves stands beside.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foible.domains import Domain, RealImages, load_domain, real_images
from foible.errors import RecipeError, did_you_mean
from foible.files import write_whole
from foible.metrics import Rate, rate
from foible.protocols import Classifier
from foible.training.train import TrainingRecipe, train
from foible.types import Images
from foible.zoo import resolve
from foible.zoo.files import load_model

KINDS: dict[str, dict[str, Any]] = {"linear": {}, "convolutional": {}}
BATCH = 250


@dataclass(frozen=True)
class Size:
    """One VAE: of the test images, how many are recognised after it; and how far its pixels are off on average."""

    kind: str
    latent: int
    recognised: Rate
    pixel_error: float
    seconds: float


@dataclass(frozen=True)
class VAEStudy:
    """All sizes, and how many of the test images themselves the classifier recognises."""

    domain: str
    classifier: str
    epochs: int
    data: str
    originals: Rate
    sizes: tuple[Size, ...]


def vae_study(
    domain: str,
    latents: Sequence[int],
    folder: Path,
    kinds: Sequence[str] = tuple(KINDS),
    epochs: int = 10,
    classifier: str | None = None,
    data: str | None = None,
    seed: int = 0,
    report: Callable[[str], None] = lambda _: None,
) -> VAEStudy:
    """Train a VAE of every kind and size, those that are not in the folder yet, and measure them all.

    Args:
        domain: whose images.
        latents: sizes of the latent space.
        folder: where the model files go; the same call goes on where it stopped.
        kinds: of network: "linear", "convolutional".
        epochs: of each training.
        classifier: who must recognise the images; the domain's by default.
        data: real images, where they are not found by themselves.
        seed: of the trainings.
        report: told what is being done.
    """
    about = load_domain(domain)
    _refuse(about, latents, kinds, classifier)
    test = real_images(about, data, "test")
    asked: Classifier = resolve("classifiers", str(classifier or about.classifier), {}, about, test).model
    sizes = []
    for kind in kinds:
        for latent in latents:
            file = folder / f"{about.name}-{kind}-{latent}.safetensors"
            fit = {"epochs": epochs, "seed": seed}
            recipe = TrainingRecipe(
                family="vae", domain=domain, network={"network": kind, "latent": latent, **KINDS[kind]}, fit=fit
            )
            if not _is_there(file, recipe):
                report(f"training {file.name}")
                train(recipe, file, data)
            sizes.append(_measured(kind, latent, file, asked, test))
            report(f"{file.name}: {sizes[-1].recognised.count} of {sizes[-1].recognised.total} recognised")
    originals = _recognised(asked, test, lambda images, _: images)
    found = VAEStudy(about.name, asked.name, epochs, test.source, originals, tuple(sizes))
    write_whole(folder / "study.json", json.dumps(asdict(found), indent=1) + "\n")
    return found


def _refuse(about: Domain, latents: Sequence[int], kinds: Sequence[str], classifier: str | None) -> None:
    if not latents or min(latents) < 1:
        raise RecipeError(f"latent sizes {list(latents)} must be at least 1", "for example --latent 4 10 40 100 400")
    for kind in kinds:
        if kind not in KINDS:
            raise RecipeError(f"no VAE network is called '{kind}'", did_you_mean(kind, KINDS))
    if not (classifier or about.classifier):
        raise RecipeError(f"domain '{about.name}' has no classifier of its own", "name one with --classifier")


def _is_there(file: Path, recipe: TrainingRecipe) -> bool:
    """Whether this very training is done; a file of another one is named and left alone."""
    card = file.with_suffix(".toml")
    if not (file.is_file() and card.is_file()):
        return False
    made = tomllib.loads(card.read_text())["recipe"]
    if made.get("fit") != recipe.fit.model_dump(exclude_none=True):
        raise RecipeError(f"'{file}' was trained with other settings", "choose another --out, or remove it")
    return True


def _measured(kind: str, latent: int, file: Path, classifier: Classifier, test: RealImages) -> Size:
    vae = load_model(file, "generators")
    off: list[float] = []

    def rebuilt(images: Images, labels: Tensor) -> Images:
        decoded: Images = vae.decode(vae.encode(images, labels), labels)
        off.extend((decoded - images).abs().flatten(1).mean(1).tolist())
        return decoded

    recognised = _recognised(classifier, test, rebuilt)
    seconds = float(tomllib.loads(file.with_suffix(".toml").read_text())["training_seconds"])
    return Size(kind, latent, recognised, sum(off) / len(off), seconds)


@torch.inference_mode()
def _recognised(classifier: Classifier, test: RealImages, change: Callable[[Images, Tensor], Images]) -> Rate:
    right = 0
    for index in torch.arange(len(test.labels)).split(BATCH):
        images = change(test.images(index), test.labels[index])
        right += int((classifier(images).argmax(1) == test.labels[index]).sum())
    return rate(right, len(test.labels))


def study_lines(found: VAEStudy) -> list[str]:
    """The study as lines of text."""
    lines = [f"{found.domain}, {found.classifier}: per cent of {found.originals.total:,} test images recognised (95 %)"]
    lines.append(f"the images themselves: {_share(found.originals)}")
    return lines + [
        f"{size.kind}, {size.latent} latents: {_share(size.recognised)}, pixel error {size.pixel_error:.3f}, "
        f"trained in {size.seconds:.0f} s"
        for size in found.sizes
    ]


def _share(found: Rate) -> str:
    share, low, high = (100 * (x or 0.0) for x in (found.share, found.low, found.high))
    return f"{share:.1f} ({low:.1f} to {high:.1f})"
