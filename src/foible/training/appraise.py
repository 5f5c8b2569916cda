"""Measure a model file: what its card says about it beyond the training itself."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import tomli_w
import torch

from foible.domains import Domain, RealImages, load_domain, real_images
from foible.errors import RecipeError, StoreError
from foible.faces import prefers_real
from foible.protocols import Classifier, Generator
from foible.training.features import features_for
from foible.training.judged import judge_of, named, share_valid
from foible.training.realism import realism
from foible.training.samples import BATCH, Pairs, made_beside_real
from foible.training.train import figures_on
from foible.types import LatentSpace
from foible.zoo.catalogue import entries, entry
from foible.zoo.files import load_model
from foible.zoo.trainable import role_of

Part = Literal["time", "images", "judge", "inversion"]
INVERTED = 200  # test images that a diffusion model makes again: several times as dear as samples


@dataclass
class Appraisal:
    """Figures, and the facts without which they mean nothing."""

    figures: dict[str, float] = field(default_factory=dict)
    measured: dict[str, Any] = field(default_factory=dict)


@torch.inference_mode()
def appraise(
    path: Path,
    data: str | Path | None = None,
    images: int = 2000,
    card_path: Path | None = None,
    only: Sequence[Part] = (),
) -> Appraisal:
    """Measure a generator's or classifier's file and write the figures into its card.

    Args:
        path: the model file.
        data: where real images are; None looks around as for any domain.
        images: how many a generator makes, to be compared with as many real ones.
        card_path: the card; beside the model file by default.
        only: parts of a generator's appraisal; the figures of the others stay as they are. Empty = all of it.
    """
    card_path = card_path or path.with_suffix(".toml")
    card = tomllib.loads(card_path.read_text())
    family, domain = card["recipe"]["family"], load_domain(card["recipe"]["domain"])
    role = role_of(family)
    if role == "validators":
        raise RecipeError(
            f"'{path.stem}' is a {family}", f"its figures are measured as it is made: foible train {family}"
        )
    model, real = load_model(path, role, path.stem), real_images(domain, data, "test")
    appraisal = Appraisal()
    if not only:
        appraisal = Appraisal(figures_on(family, model, real), {"data": real.source, "images": len(real.labels)})
    if role == "generators":
        teacher = card["recipe"]["network"].get("teacher", {}).get("use")
        subject = _Subject(model, domain, teacher, real, images)
        for part in only or get_args(Part):
            found = PARTS[part](subject)
            appraisal = Appraisal(appraisal.figures | found.figures, appraisal.measured | found.measured)
    card["figures"] = card["figures"] | {k: round(v, 5) for k, v in appraisal.figures.items()}
    card["measured"] = card.get("measured", {}) | appraisal.measured
    try:
        card_path.write_text(tomli_w.dumps(card))
    except OSError as error:
        raise StoreError(
            f"the card '{card_path}' cannot be written: {error.strerror}", "copy model and card to a folder of your own"
        ) from error
    return appraisal


@dataclass
class _Subject:
    """A generator and what it is measured against; its teacher, who would praise it, has no say."""

    generator: Generator
    domain: Domain
    teacher: str | None
    real: RealImages
    images: int

    @cached_property
    def pairs(self) -> list[Pairs]:
        """What it makes, beside real images."""
        return list(made_beside_real(self.generator, self.real, self.images))

    @property
    def references(self) -> list[str]:
        """The reference classifiers that may speak."""
        return [name for name in self.domain.references if name in entries() and name != self.teacher]


def _time(of: _Subject) -> Appraisal:
    figures = {"decode_ms": decode_milliseconds(of.generator, len(of.domain.classes))}
    return Appraisal(figures, {"decode_batch": BATCH, "threads": torch.get_num_threads()})


def _images(of: _Subject) -> Appraisal:
    """Who recognises the images, and how far they are from real ones."""
    figures, references, tested = latent_figures(of.generator.space), of.references, of.domain.classifier
    measured: dict[str, Any] = {
        "images": sum(len(p.labels) for p in of.pairs),
        "made": "reconstructions of test images" if prefers_real(of.generator) else "samples",
    }
    if tested in entries():
        measured["classifier"] = tested
        figures["viable_origins"] = share_recognised([_classifier(str(tested))], of.pairs)
        if prefers_real(of.generator):
            figures["reconstruction_accuracy"] = figures["viable_origins"]
    if references:
        measured["references"] = references
        figures["recognised"] = share_recognised([_classifier(name) for name in references], of.pairs)
    if references or tested in entries():
        distance = realism((p.real for p in of.pairs), (p.made for p in of.pairs), features_for(of.domain, of.teacher))
        measured["extractor"] = distance.extractor
        figures |= {"fid": distance.fid, "kid": distance.kid}
    return Appraisal(figures, measured)


def _judge(of: _Subject) -> Appraisal:
    if (judge := judge_of(of.domain)) is None:
        return Appraisal()
    figures = {"judged_valid": share_valid(judge, of.pairs)}
    return Appraisal(figures, {"judge": named(of.domain), "judged_images": sum(len(p.labels) for p in of.pairs)})


def _inversion(of: _Subject) -> Appraisal:
    """How near a generator that starts from samples comes to real images when it is asked for these."""
    if prefers_real(of.generator) or not hasattr(of.generator, "encode"):
        return Appraisal()
    pairs = list(made_beside_real(of.generator, of.real, min(of.images, INVERTED), reconstruct=True))
    total = sum(len(p.labels) for p in pairs)
    figures = {"pixel_error": sum(float((p.made - p.real).abs().mean((1, 2, 3)).sum()) for p in pairs) / total}
    if of.domain.classifier in entries():
        figures["reconstruction_accuracy"] = share_recognised([_classifier(str(of.domain.classifier))], pairs)
    if of.references:
        figures["reconstruction_recognised"] = share_recognised([_classifier(n) for n in of.references], pairs)
    return Appraisal(figures, {"inverted": total})


PARTS: dict[Part, Callable[[_Subject], Appraisal]] = {
    "time": _time,
    "images": _images,
    "judge": _judge,
    "inversion": _inversion,
}


def latent_figures(space: LatentSpace) -> dict[str, float]:
    """How many coordinates a latent has, from the least to the largest of them, and their mean natural step."""
    return {
        "latent_size": float(torch.Size(space.shape).numel()),
        "latent_range": space.range,
        "latent_step": float(space.step.mean()),
    }


def share_recognised(classifiers: list[Classifier], pairs: list[Pairs]) -> float:
    """Share of made images that the classifiers together (mean probability) take for the class asked for."""
    right = 0.0
    for pair in pairs:
        votes = torch.stack([c(pair.made).softmax(1) for c in classifiers]).mean(0)
        right += float((votes.argmax(1) == pair.labels).sum())
    return right / sum(len(p.labels) for p in pairs)


def decode_milliseconds(generator: Generator, classes: int, repeats: int = 5) -> float:
    """Time to decode one image in a batch of 100: the best of a few, after one to warm up."""
    labels = torch.arange(BATCH) % classes
    latents = generator.sample(labels, torch.Generator().manual_seed(0))
    seconds = []
    for _ in range(1 + repeats):
        begin = time.perf_counter()
        generator.decode(latents, labels)
        seconds.append(time.perf_counter() - begin)
    return 1000 * min(seconds[1:]) / BATCH


def _classifier(name: str) -> Classifier:
    model: Classifier = load_model(entry(name).path(), "classifiers", name)
    return model
