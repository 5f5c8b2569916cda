"""Everything that can be known to be wrong before the first image is searched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn

from foible.campaign.assemble import Campaign
from foible.errors import CheckError, ModelError
from foible.protocols import Encoder, Lanes
from foible.types import Arm, Images, OriginBatch

PROBES = 200  # real images looked at
NEAR_CHANCE = 2.0  # an accuracy below this multiple of chance is no better than guessing for our purpose


@dataclass(frozen=True)
class Line:
    """One thing that was looked at."""

    level: Literal["ok", "warning", "wrong"]
    about: str
    message: str
    hint: str = ""


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
    """Look at shapes, class counts, value range, scores, determinism, clean accuracy and budget."""
    lines = list(_fit(campaign))
    if not any(line.level == "wrong" for line in lines):
        lines += _budget(campaign)
        index = _probe_index(campaign)
        images, labels = campaign.data.images(index), campaign.data.labels[index]
        scores = list(_scores(campaign, images, labels))
        lines += scores
        if not any(line.level == "wrong" for line in scores):
            lines += _generator(campaign, images, labels)
    return Checkup(tuple(lines))


def _fit(campaign: Campaign) -> Iterator[Line]:
    domain, generator, classifier = campaign.domain, campaign.generator, campaign.classifier
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
    if len(classifier.classes) != len(domain.classes):
        yield Line(
            "wrong",
            "classifier",
            f"classifier '{classifier.name}' has {len(classifier.classes)} classes, the domain '{domain.name}' has {len(domain.classes)}",
            "pass the classes it was trained on, or pick another domain",
        )
    elif tuple(classifier.classes) != domain.classes:
        yield Line(
            "warning",
            "classifier",
            f"classifier '{classifier.name}' names its classes {', '.join(classifier.classes[:5])}..., the domain {', '.join(domain.classes[:5])}...",
            "the order must be the same: compare the two lists",
        )
    yield Line("ok", "data", f"{len(campaign.data.labels)} real images from {campaign.data.source}")


def _budget(campaign: Campaign) -> Iterator[Line]:
    space, objective = campaign.generator.space, campaign.objective
    origin = OriginBatch(
        torch.zeros(1, dtype=torch.long), torch.zeros(1, dtype=torch.long), torch.zeros(1, *space.shape)
    )
    lanes = Lanes(origin, space, campaign.streams)
    for arm, search in campaign.searches.items():
        first = len(search.ask(search.begin(lanes), lanes).lanes)
        if first > campaign.budget.evaluations:
            yield Line(
                "wrong",
                "budget",
                f"the {arm} asks for {first} evaluations at once, the budget is {campaign.budget.evaluations} per origin",
                "raise budget.evaluations or make the population smaller",
            )
    if len(objective.names) != 1:
        yield Line(
            "wrong",
            "objective",
            f"the objective has {len(objective.names)} columns, this search takes one",
            "pick a search for several objectives",
        )
    repeats = campaign.attempts[Arm.SEARCH] / max(1, len(campaign.data.labels))
    if isinstance(campaign.generator, Encoder) and repeats > 1:
        yield Line(
            "warning",
            "attempts",
            f"{campaign.attempts[Arm.SEARCH]} attempts on {len(campaign.data.labels)} images: images come up {repeats:.1f} times",
            "name a larger dataset with --data",
        )


def _scores(campaign: Campaign, images: Images, labels: Tensor) -> Iterator[Line]:
    classifier, name = campaign.classifier, f"classifier '{campaign.classifier.name}'"
    try:
        logits = _classified(campaign, images)
    except ModelError:
        raise
    except Exception as error:
        yield Line(
            "wrong",
            "classifier",
            f"{name} cannot take images of shape {tuple(images.shape)}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}",
            "its input size or channels differ from the domain's",
        )
        return
    expected = (len(images), len(campaign.domain.classes))
    if not isinstance(logits, Tensor) or tuple(logits.shape) != expected:
        came = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        yield Line(
            "wrong",
            "classifier",
            f"{name} gave scores of shape {came}, expected {expected}",
            "one row per image, one column per class of the domain",
        )
        return
    if not bool(torch.isfinite(logits).all()):
        yield Line(
            "wrong",
            "classifier",
            f"{name} gives NaN or infinite scores for {int((~torch.isfinite(logits)).any(1).sum())} of {len(images)} real images",
            "check its weights and its preprocessing",
        )
        return
    if bool((logits == logits[:1]).all()):
        yield Line(
            "wrong",
            "classifier",
            f"{name} gives the same scores for every image",
            "its weights are missing, or its preprocessing wipes the image out",
        )
        return
    if not torch.equal(logits, _classified(campaign, images)):
        yield Line(
            "wrong",
            "classifier",
            f"{name} gives other scores when asked again",
            "switch dropout and batch norm to evaluation: module.eval()",
        )
        return
    module = getattr(classifier, "module", None)
    if isinstance(module, nn.Module) and module.training:
        yield Line("wrong", "classifier", f"{name} is in training mode", "call module.eval() before handing it over")
    alone = torch.cat([_classified(campaign, images[i : i + 1]) for i in range(4)])
    if not torch.allclose(alone, logits[:4], rtol=1e-3, atol=1e-3):
        yield Line(
            "wrong",
            "classifier",
            f"{name} gives an image other scores alone than in a batch",
            "batch norm must use its running statistics: module.eval()",
        )
    sums = logits.sum(1)
    if bool((logits >= 0).all()) and torch.allclose(sums, torch.ones_like(sums), atol=1e-3):
        yield Line(
            "wrong",
            "classifier",
            f"{name} gives probabilities where logits are expected",
            'say so with output = "probabilities", so that margins are comparable',
        )
    yield from _accuracy(campaign, images, labels, logits)


def _accuracy(campaign: Campaign, images: Images, labels: Tensor, logits: Tensor) -> Iterator[Line]:
    name, classes = f"classifier '{campaign.classifier.name}'", len(campaign.domain.classes)
    accuracy = _share_right(logits, labels)
    if accuracy > NEAR_CHANCE / classes and accuracy > 0.5:
        yield Line("ok", "accuracy", f"{name} is right on {accuracy:.1%} of {len(labels)} real images")
        return
    level: Literal["wrong", "warning"] = "wrong" if accuracy <= NEAR_CHANCE / classes else "warning"
    cause, hint = _likely_cause(campaign, images, labels, logits, accuracy)
    yield Line(
        level,
        "accuracy",
        f"{name} is right on only {accuracy:.1%} of {len(labels)} real images (chance is {1 / classes:.1%}){cause}",
        hint,
    )


def _likely_cause(
    campaign: Campaign, images: Images, labels: Tensor, logits: Tensor, accuracy: float
) -> tuple[str, str]:
    """Try the usual mistakes one by one: the one under which the classifier works is named."""
    conventions = {
        "values in [0, 255]": (images * 255, "it wants pixels times 255: std = [0.003921569]"),
        "values in [-1, 1]": (images * 2 - 1, "it wants mean = [0.5], std = [0.5]"),
        "inverted images": (
            1 - images,
            "it was trained on dark-on-light images: mean = [1.0], and a factor of -1 in front",
        ),
        "standardised images": (
            (images - images.mean()) / images.std(),
            f"it wants mean = [{images.mean():.4f}], std = [{images.std():.4f}]",
        ),
    }
    found = [
        (_share_right(_classified(campaign, changed), labels), f"with {convention}", hint)
        for convention, (changed, hint) in conventions.items()
    ]
    order, permuted = _best_order(logits, labels)
    found.append(
        (
            permuted,
            "with its classes in another order",
            f"its outputs stand for the domain's classes in the order {order}",
        )
    )
    best, text, hint = max(found)
    if best > max(0.5, 2 * accuracy):
        return f"; {text} it is right on {best:.1%}", hint
    return "", "check weights, preprocessing (mean, std, range) and class order"


def _best_order(logits: Tensor, labels: Tensor) -> tuple[list[int], float]:
    """The one-to-one order of outputs under which most answers are right, and the share that is."""
    classes = logits.shape[1]
    table = torch.zeros(classes, classes).index_put_(
        (labels, logits.argmax(1)), torch.ones(len(labels)), accumulate=True
    )
    rows, columns = linear_sum_assignment(-table.numpy())
    return columns.tolist(), float(table[rows, columns].sum()) / len(labels)


def _generator(campaign: Campaign, images: Images, labels: Tensor) -> Iterator[Line]:
    generator, name = campaign.generator, f"generator '{campaign.generator.name}'"
    labels = labels[:64]
    latents = generator.sample(labels, campaign.streams.at("check"))
    if isinstance(generator, Encoder):
        latents = generator.encode(images[:64].to(campaign.device), labels).cpu()
    decoded = _decoded(campaign, latents, labels)
    if tuple(decoded.shape[1:]) != tuple(campaign.domain.shape) or not bool(torch.isfinite(decoded).all()):
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
    if not torch.equal(decoded, _decoded(campaign, latents, labels)):
        yield Line(
            "wrong",
            "generator",
            f"{name} gives another image for the same latent",
            "take all randomness from the latent",
        )
    accepted = _share_right(_classified(campaign, decoded), labels)
    if accepted < 0.05:
        yield Line(
            "wrong",
            "origins",
            f"the classifier recognises {accepted:.0%} of {len(labels)} images made by {name}: there is nothing to start from",
            "the generator is for other images, or poorly trained",
        )
    else:
        yield Line("ok", "origins", f"the classifier recognises {accepted:.0%} of {len(labels)} images made by {name}")


def _probe_index(campaign: Campaign) -> Tensor:
    total = len(campaign.data.labels)
    return torch.randperm(total, generator=campaign.streams.at("check"))[:PROBES]


def _classified(campaign: Campaign, images: Images) -> Tensor:
    logits = campaign.classifier(images.to(campaign.device))
    return logits.cpu() if isinstance(logits, Tensor) else logits


def _decoded(campaign: Campaign, latents: Tensor, labels: Tensor) -> Images:
    return campaign.generator.decode(latents.to(campaign.device), labels.to(campaign.device)).cpu()


def _share_right(logits: Tensor, labels: Tensor) -> float:
    return float((logits.argmax(1) == labels).float().mean())
