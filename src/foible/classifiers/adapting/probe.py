"""Probe a classifier on labelled real images: everything that would make a search meaningless, found before it starts.

Each function looks at one thing and gives lines. `probe` runs them in an order in which each may rely on those before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from foible.classifiers.adapting.scores import class_order, output_kind, share_right
from foible.errors import FoibleError
from foible.types import Capability, Images

NEAR_CHANCE = 2.0  # an accuracy below this multiple of chance is no better than guessing for our purpose
ALONE = 4  # images also classified one by one
TWICE = 16  # images classified again, twice as one batch
CLOSE = 1e-3  # how far scores may move with the batch size

Level = Literal["ok", "warning", "wrong"]


@dataclass(frozen=True)
class Line:
    """One thing that was looked at."""

    level: Level
    about: str
    message: str
    hint: str = ""


@torch.inference_mode()
def probe(classifier: Any, images: Images, labels: Tensor, classes: tuple[str, ...]) -> tuple[Line, ...]:
    """All that can be said about a classifier before a search; the first thing that is wrong ends the probing.

    Args:
        classifier: a callable from images to scores, with `name`, and `classes` and `offers` where it has them.
        images: real images of the domain (N, C, H, W) in [0, 1].
        labels: their class numbers (N,).
        classes: the domain's classes.
    """
    name = f"classifier '{classifier.name}'"
    lines = list(probe_classes(name, tuple(classifier.classes), classes))
    if _any_wrong(lines):
        return tuple(lines)
    try:
        scores = classifier(images)
    except FoibleError:
        raise
    except Exception as error:
        return (*lines, input_line(name, images, error))
    ask = classifier.__call__
    looks: list[Callable[[], Iterator[Line]]] = [
        lambda: probe_scores(name, scores, len(images), len(classes)),
        lambda: probe_repeatable(name, ask, images[:TWICE]),
        lambda: probe_mode(name, classifier),
        lambda: probe_batch(name, ask, images, scores),
        lambda: probe_meaning(name, scores),
        lambda: probe_accuracy(name, scores.cpu(), labels, classes),
        lambda: probe_capabilities(name, classifier),
    ]
    for look in looks:
        lines += look()
        if _any_wrong(lines):
            break
    return tuple(lines)


def probe_classes(name: str, own: tuple[str, ...], wanted: tuple[str, ...]) -> Iterator[Line]:
    """Number and names of the classes."""
    if len(own) != len(wanted):
        yield Line(
            "wrong",
            "classes",
            f"{name} has {len(own)} classes, the domain has {len(wanted)}",
            "pass the classes it was trained on, or pick another domain",
        )
    elif own != wanted:
        yield Line(
            "warning",
            "classes",
            f"{name} names its classes {', '.join(own[:5])}..., the domain {', '.join(wanted[:5])}...",
            "the order must be the same: compare the two lists",
        )


def input_line(name: str, images: Images, error: Exception) -> Line:
    """Why it cannot take the domain's images."""
    reason = (str(error).strip() or "-").splitlines()[-1][:300]
    shape = "x".join(map(str, images.shape[1:]))
    return Line(
        "wrong",
        "input",
        f"{name} cannot take {shape} images: {type(error).__name__}: {reason}",
        "its input size, channels or dtype differ from the domain's: give size and channels",
    )


def probe_scores(name: str, scores: Any, count: int, classes: int) -> Iterator[Line]:
    """Shape, type and finiteness of the scores."""
    if not isinstance(scores, Tensor) or tuple(scores.shape) != (count, classes):
        came = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        yield Line(
            "wrong",
            "scores",
            f"{name} gave scores of shape {came}, expected {(count, classes)}",
            "one row per image, one column per class of the domain",
        )
    elif not scores.is_floating_point():
        yield Line(
            "wrong",
            "scores",
            f"{name} gives {scores.dtype}, expected floating-point scores",
            "return scores, not labels",
        )
    elif (bad := int((~torch.isfinite(scores)).any(1).sum())) > 0:
        yield Line(
            "wrong",
            "scores",
            f"{name} gives NaN or infinite scores for {bad} of {count} real images",
            "check its weights and its preprocessing",
        )
    elif bool((scores == scores[:1]).all()):
        yield Line(
            "wrong",
            "scores",
            f"{name} gives the same scores for every image",
            "its weights are missing, or its preprocessing wipes the image out",
        )


def probe_repeatable(name: str, ask: Callable[[Images], Tensor], images: Images) -> Iterator[Line]:
    """Whether the same few images get the same scores again."""
    scores, again = ask(images), ask(images)
    if not torch.equal(again, scores):
        yield Line(
            "wrong",
            "repeatable",
            f"{name} gives other scores when asked again (by up to {float((again - scores).abs().max()):.2g})",
            "switch dropout and batch norm to evaluation, module.eval(), before handing it over or exporting it",
        )


def probe_mode(name: str, classifier: Any) -> Iterator[Line]:
    """Training mode, where it can be seen."""
    module = getattr(classifier, "module", None) or getattr(getattr(classifier, "network", None), "module", None)
    if isinstance(module, nn.Module) and not isinstance(module, torch.fx.GraphModule) and module.training:
        yield Line("wrong", "mode", f"{name} is in training mode", "call module.eval() before handing it over")


def probe_batch(name: str, ask: Callable[[Images], Tensor], images: Images, scores: Tensor) -> Iterator[Line]:
    """Whether an image's scores depend on its neighbours."""
    alone = torch.cat([ask(images[i : i + 1]) for i in range(min(ALONE, len(images)))])
    if not torch.allclose(alone, scores[: len(alone)], rtol=CLOSE, atol=CLOSE):
        yield Line(
            "wrong",
            "batch",
            f"{name} gives an image other scores alone than in a batch (by up to {float((alone - scores[: len(alone)]).abs().max()):.2g})",
            "batch norm must use its running statistics: module.eval() before exporting",
        )


def probe_meaning(name: str, scores: Tensor) -> Iterator[Line]:
    """Probabilities where logits are expected."""
    if output_kind(scores) == "probabilities":
        yield Line(
            "wrong",
            "output",
            f"{name} gives probabilities where logits are expected",
            'say so with output = "probabilities", so that margins are comparable',
        )


def probe_accuracy(name: str, scores: Tensor, labels: Tensor, classes: tuple[str, ...]) -> Iterator[Line]:
    """Clean accuracy; where it is low, whether the classes only stand in another order."""
    accuracy, count = share_right(scores, labels), len(classes)
    if accuracy > NEAR_CHANCE / count and accuracy > 0.5:
        yield Line("ok", "accuracy", f"{name} is right on {accuracy:.1%} of {len(labels)} real images")
        return
    level: Level = "wrong" if accuracy <= NEAR_CHANCE / count else "warning"
    message = f"{name} is right on only {accuracy:.1%} of {len(labels)} real images (chance is {1 / count:.1%})"
    order = class_order(scores, labels)
    permuted = share_right(scores[:, order], labels)
    if permuted > max(0.5, 2 * accuracy):
        own = [""] * count
        for label, column in enumerate(order.tolist()):
            own[column] = classes[label]
        yield Line(
            "wrong",
            "order",
            f"{message}; with its classes in another order it is right on {permuted:.1%}",
            f"say in which order its scores come: classes = {own}",
        )
        return
    yield Line(level, "accuracy", message, "check weights, preprocessing (mean, std, range, size) and class order")


def probe_capabilities(name: str, classifier: Any) -> Iterator[Line]:
    """What a search may ask for beyond scores."""
    offers: frozenset[Capability] = getattr(classifier, "offers", frozenset())
    has = [f"{c.value}{'s' if c is Capability.GRADIENT else ''}" for c in Capability if c in offers]
    yield Line("ok", "offers", f"{name} offers scores" + "".join(f", {h}" for h in has) + ("" if has else " only"))


def _any_wrong(lines: list[Line]) -> bool:
    return any(line.level == "wrong" for line in lines)
