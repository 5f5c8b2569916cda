"""Everything that can be known to be wrong before the first image is searched."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.campaign.assemble import Campaign
from foible.campaign.evaluate import FEW, Evaluator
from foible.campaign.rehearse import first_proposal
from foible.campaign.starts import class_pairs, from_real_images
from foible.classifiers.adapting.conventions import conventions
from foible.classifiers.adapting.preprocessing import Preprocessing
from foible.classifiers.adapting.probe import Line, probe
from foible.classifiers.adapting.scores import class_order, share_right
from foible.errors import CheckError
from foible.faces import Encoder
from foible.images import worth_a_look
from foible.types import Arm, Images, Latents

PROBES, MADE = 200, 64  # real images looked at, and images made
HALF = 0.5  # of a few large images made: where so many are recognised, no more are made; of real ones: a fair surrogate's share
SAME = 1e-3  # logits: two classifiers are further apart
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checkup:
    """All that was looked at."""

    lines: tuple[Line, ...]

    @property
    def wrong(self) -> list[Line]:
        """What must be put right before a run makes sense."""
        return [line for line in self.lines if line.level == "wrong"]

    def must_pass(self) -> None:
        """Raise the first thing that is wrong, and say how many more there are."""
        if not self.wrong:
            return
        first, more = self.wrong[0], len(self.wrong) - 1
        raise CheckError(first.message + (f" (and {more} more: see `foible check`)" if more else ""), first.hint)


@torch.inference_mode()
def check(campaign: Campaign) -> Checkup:
    """Look at classes, shapes, class counts, value range, scores, surrogates, determinism, clean accuracy and budget."""
    class_pairs(campaign)  # says which class is unknown, before there is a folder
    lines = list(_fit(campaign))
    if not any(line.level == "wrong" for line in lines):
        lines += _budget(campaign)
        index = _probe_index(campaign)
        images, labels = campaign.data.images(index), campaign.data.labels[index]
        log.info("looking at the classifier and the generator, on %d real images", len(index))
        scores = _classifier(campaign, images, labels)
        lines += scores
        if not any(line.level == "wrong" for line in scores):
            lines += _surrogates(campaign, images, labels)
            lines += _generator(campaign, images, labels)
    return Checkup(tuple(lines))


def _fit(campaign: Campaign) -> Iterator[Line]:
    domain, generator = campaign.domain, campaign.generator
    if tuple(generator.shape) != tuple(domain.shape):
        yield Line(
            "wrong",
            "generator",
            f"generator '{generator.name}' makes images of shape {tuple(generator.shape)}, the domain '{domain.name}' has {domain.shape}",
            "pick a generator of the domain: foible ls zoo",
        )
    else:
        yield Line(
            "ok",
            "generator",
            f"'{generator.name}' makes {'x'.join(map(str, domain.shape))} images from {'x'.join(map(str, generator.space.shape))} latents",
        )
    yield Line("ok", "data", f"{len(campaign.data.labels):,} real images from {campaign.data.source}")
    judged = ", ".join(v.name for v in campaign.validators)
    if judged:
        yield Line("ok", "validators", f"failures are judged by: {judged}")
    else:
        yield Line(
            "warning",
            "validators",
            "nobody judges which failures count",
            'validators = ["judge"] where the domain has a judge (foible ls zoo); docs/judge.md',
        )


def _budget(campaign: Campaign) -> Iterator[Line]:
    for arm in campaign.searches:
        evaluator = Evaluator(campaign, 1, arm=arm)
        first = int(evaluator.price(first_proposal(campaign, arm)).sum())
        if first > campaign.budget.evaluations:
            yield Line(
                "wrong",
                "budget",
                f"the {arm} asks for {first} evaluations at once, the budget is {campaign.budget.evaluations} per starting image",
                "raise budget.evaluations or make the population smaller",
            )
    repeats = campaign.attempts[Arm.SEARCH] / max(1, len(campaign.data.labels))
    if from_real_images(campaign) and repeats > 1:
        yield Line(
            "warning",
            "attempts",
            f"{campaign.attempts[Arm.SEARCH]} attempts on {len(campaign.data.labels)} images: images come up {repeats:.1f} times",
            "name a larger dataset with --data",
        )


def _classifier(campaign: Campaign, images: Images, labels: Tensor) -> list[Line]:
    """What the probe says; where clean accuracy is low, the way of scaling images under which it is not."""
    images = images.to(campaign.device)
    lines = probe(campaign.classifier, images, labels, campaign.domain.classes)
    low = next((line for line in lines if line.about in {"accuracy", "order"} and line.level != "ok"), None)
    if low is None:
        return list(lines)
    plain, *others = [
        (share_right(_classified(campaign, way(images)), labels), str(way))
        for way in conventions(Preprocessing(), images)
    ]
    best, way = max(others)
    scores = _classified(campaign, images)
    reordered = share_right(scores[:, class_order(scores, labels)], labels)
    if best <= max(0.5, 2 * plain[0], reordered):
        return list(lines)
    name, share = f"classifier '{campaign.classifier.name}'", f"{plain[0]:.1%} of {len(labels)} real images"
    message = f"{name} is right on only {share}; with {way} it is right on {best:.1%}"
    cause = Line(low.level, "accuracy", message, f"it wants {way}: wrap it with foible.classifier, or scale inside it")
    return [cause if line is low else line for line in lines]


def _surrogates(campaign: Campaign, images: Images, labels: Tensor) -> Iterator[Line]:
    """Whoever lends gradients must be another than the tested classifier, and know the same classes."""
    tested, device = _classified(campaign, images), campaign.device
    for role, (classifier, free, *_) in campaign.roles.items():
        if not free or role not in {*campaign.recipe.classifiers, *campaign.given.classifiers}:
            continue
        name = f"{role} '{classifier.name}'"
        if tuple(classifier.classes) != tuple(campaign.domain.classes):
            yield Line(
                "wrong",
                "surrogates",
                f"{name} knows {len(classifier.classes)} classes ({', '.join(classifier.classes[:3])}, ...), and not those of '{campaign.domain.name}'",
                "name a classifier of the same classes: foible ls zoo",
            )
            continue
        said = classifier(images.to(device)).cpu()
        if torch.allclose(said, tested, atol=SAME):  # also in another format, whose last bits are others
            yield Line(
                "wrong",
                "surrogates",
                f"{name} gives the same scores as '{campaign.classifier.name}', which is tested: it is no other classifier",
                "name another one, or let foible choose among those of the domain",
            )
        elif (right := share_right(said, labels)) < HALF:
            yield Line(
                "warning",
                "surrogates",
                f"{name} is right on only {right:.1%} of {len(labels)} real images: it hardly shows the way",
                "name a better one: foible ls zoo",
            )


def _generator(campaign: Campaign, images: Images, labels: Tensor) -> Iterator[Line]:
    name = f"generator '{campaign.generator.name}'"
    latents, decoded = _made(campaign, images, labels)
    labels = labels[: len(decoded)]
    if not _sound(campaign, decoded):
        yield Line(
            "wrong",
            "generator",
            f"{name} gives images of shape {tuple(decoded.shape[1:])} or with NaN",
            "its weights do not fit its settings",
        )
        return
    low, high = float(decoded.min()), float(decoded.max())
    if low < 0 or high > 1:
        yield Line(
            "wrong",
            "generator",
            f"{name} gives values from {low:.2f} to {high:.2f}, images are in [0, 1]",
            "map its output into [0, 1] inside decode",
        )
    again = slice(0, FEW)  # in another batch the last bits may be others: the same few, twice
    same = _decoded(campaign, latents[again], labels[again])
    other = decoded if len(decoded) == len(same) else _decoded(campaign, latents[again], labels[again])
    if not torch.equal(same, other):
        yield Line(
            "wrong",
            "generator",
            f"{name} gives another image for the same latent",
            "take all randomness from the latent",
        )
    accepted = share_right(_classified(campaign, decoded), labels)
    if accepted < 0.05:
        yield Line(
            "wrong",
            "origins",
            f"the classifier recognises {accepted:.0%} of {len(labels)} images made by {name}: there is nothing to start from",
            "the generator is for other images, or poorly trained",
        )
    else:
        yield Line("ok", "origins", f"the classifier recognises {accepted:.0%} of {len(labels)} images made by {name}")


def _made(campaign: Campaign, images: Images, labels: Tensor) -> tuple[Latents, Images]:
    """Latents and what is made of them: many small images at once, or a few large ones until half are recognised."""
    generator, most = campaign.generator, worth_a_look(campaign.generator.shape, MADE)
    labels = labels[:most]
    latents = generator.sample(labels, campaign.streams.at("check"))
    made: list[Images] = []
    for rows in torch.arange(len(labels)).split(MADE if most == MADE else FEW):
        if isinstance(generator, Encoder) and from_real_images(campaign):
            latents[rows] = generator.encode(images[rows].to(campaign.device), labels[rows]).cpu()
        made.append(_decoded(campaign, latents[rows], labels[rows]))
        if not _sound(campaign, made[-1]) or share_right(_classified(campaign, made[-1]), labels[rows]) >= HALF:
            break
    decoded = torch.cat(made)
    return latents[: len(decoded)], decoded


def _sound(campaign: Campaign, images: Images) -> bool:
    return tuple(images.shape[1:]) == tuple(campaign.domain.shape) and bool(torch.isfinite(images).all())


def _probe_index(campaign: Campaign) -> Tensor:
    total = len(campaign.data.labels)
    order = torch.randperm(total, generator=campaign.streams.at("check"))
    return order[: worth_a_look(campaign.domain.shape, PROBES)]


def _classified(campaign: Campaign, images: Images) -> Tensor:
    logits = campaign.classifier(images.to(campaign.device))
    return logits.cpu() if isinstance(logits, Tensor) else logits


def _decoded(campaign: Campaign, latents: Tensor, labels: Tensor) -> Images:
    return campaign.generator.decode(latents.to(campaign.device), labels.to(campaign.device)).cpu()
