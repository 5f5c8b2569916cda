"""How does a model want its images? What its file says, what the user says, and else what real images show.

Clean accuracy on labelled real images is measured under the usual conventions. The winner must be clear: better than
the runner-up beyond chance (a sign test on the images that only one of the two gets right), else the plainest of those
that cannot be told apart is taken, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.adapting.preprocessing import Preprocessing
from foible.classifiers.adapting.scores import class_order
from foible.classifiers.network import Facts, Layout, Network
from foible.errors import FoibleError, ModelError
from foible.types import Images

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SIDES = (28, 32, 64, 96, 128, 224, 256, 299)
LIKELY = (None, (32, 32), (64, 64), (224, 224))  # sizes tried on a model that takes any
FEW = 32  # images for a first look at other sizes
GREAT = 0.9  # an accuracy from which on nothing else is tried
GOOD = 0.5  # an accuracy from which on a convention is taken to be found
DOUBT = 0.05  # level of the sign test


@dataclass(frozen=True)
class Said:
    """What the user says about a model's input; None where nothing is said."""

    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    range: tuple[float, float] | None = None
    size: tuple[int, int] | None = None
    channels: int | None = None
    layout: Layout | None = None


@dataclass(frozen=True)
class Chosen:
    """How images will go into the model, and why."""

    preprocessing: Preprocessing
    note: str
    clear: bool = True


@dataclass(frozen=True)
class _Trial:
    """One convention and which of the images come out right under it, with the classes as named or reordered."""

    preprocessing: Preprocessing
    right: Tensor
    right_reordered: Tensor

    @property
    def accuracy(self) -> float:
        return float(self.right.float().mean())

    def reordered(self) -> _Trial:
        return replace(self, right=self.right_reordered)


def choose(network: Network, said: Said, images: Images, labels: Tensor, columns: Any = None) -> Chosen:
    """The preprocessing of a model: said, stated by its file, or found by trying."""
    facts = network.facts
    base = Preprocessing(
        channels=said.channels or facts.channels,
        size=said.size or facts.size,
        dtype=facts.dtype,
        layout=said.layout or facts.layout,
    )
    values = _values(said, facts)
    geometries = list(_geometries(base, images))
    fitting = next((g for g in geometries if _problem(network, g, images) is None), None)
    if fitting is None:
        raise ModelError(
            f"the model cannot take images of the domain, {_shape(base, images)}: {_problem(network, base, images)}",
            "give its input size and channels: size, channels (--size, --channels)",
        )
    if values is not None:
        preprocessing, source = replace(fitting, **values[0]), values[1]
        return Chosen(preprocessing, f"input: {preprocessing} ({source})")
    trials = [_tried(network, g, images, labels, columns) for g in conventions(fitting, images)]
    if max(t.accuracy for t in trials) < GOOD and (base.channels is None or base.size is None):
        trials += _elsewhere(network, geometries, images, labels, columns)
    if max(t.accuracy for t in trials) < GOOD and max(t.reordered().accuracy for t in trials) >= GOOD:
        trials = [t.reordered() for t in trials]  # the order of its classes is wrong too: the probe will say so
    return _winner(trials)


def _values(said: Said, facts: Facts) -> tuple[dict[str, Any], str] | None:
    """Range, mean and std where the user or the file states them, and who it was."""
    for source, stated in (("as you say", said), (f"from {facts.source}", facts)):
        known = {k: getattr(stated, k) for k in ("range", "mean", "std") if getattr(stated, k) is not None}
        if known:
            return known, source
    return None


def _geometries(base: Preprocessing, images: Images) -> Iterator[Preprocessing]:
    """The input shapes a model may want, the domain's own first."""
    own = images.shape[1]
    channels = [base.channels] if base.channels else [own, 4 - own] if own in (1, 3) else [own]
    sizes = [base.size] if base.size else [None, *((s, s) for s in SIDES if (s, s) != tuple(images.shape[2:]))]
    for size in sizes:
        for count in channels:
            yield replace(base, channels=count, size=size)


def conventions(base: Preprocessing, images: Images) -> Iterator[Preprocessing]:
    """The ways in which values are commonly scaled, the plainest first."""
    yield base
    yield replace(base, range=(0.0, 255.0))
    if base.dtype == "uint8":
        return
    yield replace(base, range=(-1.0, 1.0))
    seen = replace(base, size=None, layout="nchw", dtype="float32")(images)
    mean, std = seen.mean((0, 2, 3)), seen.std((0, 2, 3)).clamp_min(1e-3)
    yield replace(base, mean=_rounded(mean), std=_rounded(std))
    if seen.shape[1] == 3:
        yield replace(base, mean=IMAGENET_MEAN, std=IMAGENET_STD)
    yield replace(base, range=(1.0, 0.0))


def _elsewhere(
    network: Network, geometries: list[Preprocessing], images: Images, labels: Tensor, columns: Any
) -> list[_Trial]:
    """Conventions under other input shapes, for models that take any shape but know only one."""
    best, found = 0.0, []
    for geometry in geometries[1:]:
        if best > GREAT:
            break
        if (geometry.size not in LIKELY and len(geometries) > 2) or _problem(network, geometry, images) is not None:
            continue
        for convention in conventions(geometry, images):
            trial = _tried(network, convention, images[:FEW], labels[:FEW], columns)
            if trial.accuracy > max(best, GOOD):
                best = trial.accuracy
                found.append(_tried(network, convention, images, labels, columns))
    return found


def _winner(trials: list[_Trial]) -> Chosen:
    """The best trial, or the plainest of those that cannot be told from it."""
    best = max(trials, key=lambda t: t.accuracy)
    equals = [t for t in trials if t is best or not _beats(best, t)]
    taken = equals[0] if best.accuracy >= GOOD else trials[0]
    note = f"input: {taken.preprocessing} (tried: right on {taken.accuracy:.1%} of {len(taken.right)} real images"
    others = [t for t in trials if t is not taken]
    if best.accuracy < GOOD:
        return Chosen(taken.preprocessing, note + "; no convention does better than half)", clear=False)
    if len(equals) > 1:
        rivals = "; ".join(f"{t.preprocessing}: {t.accuracy:.1%}" for t in equals if t is not taken)
        return Chosen(taken.preprocessing, note + f"; cannot be told from {rivals})", clear=False)
    if not others:
        return Chosen(taken.preprocessing, note + ")")
    second = max(others, key=lambda t: t.accuracy)
    return Chosen(taken.preprocessing, note + f"; next best, {second.preprocessing}: {second.accuracy:.1%})")


def _beats(first: _Trial, second: _Trial) -> bool:
    from scipy.stats import binomtest  # slow to import

    wins, losses = int((first.right & ~second.right).sum()), int((second.right & ~first.right).sum())
    return wins + losses > 0 and binomtest(wins, wins + losses, alternative="greater").pvalue < DOUBT


def _tried(network: Network, preprocessing: Preprocessing, images: Images, labels: Tensor, columns: Any) -> _Trial:
    classifier = AdaptedClassifier("probe", network, (), preprocessing, columns=columns)
    scores = classifier(images).cpu()
    if not bool(torch.isfinite(scores).all()) or scores.shape[1] <= int(labels.max()):
        nothing = torch.zeros(len(labels), dtype=torch.bool)
        return _Trial(preprocessing, nothing, nothing)
    order = class_order(scores, labels)
    return _Trial(preprocessing, scores.argmax(1) == labels, scores.argmax(1) == order[labels])


def _problem(network: Network, preprocessing: Preprocessing, images: Images) -> str | None:
    """Why the network cannot take such inputs, or None when it can; a worker that died or a lost server is an error."""
    try:
        scores = AdaptedClassifier("probe", network, (), preprocessing).raw_scores(images[:2])
    except FoibleError:
        raise
    except Exception as error:
        return f"{type(error).__name__}: {(str(error).strip() or '-').splitlines()[-1][:300]}"
    return None if scores.ndim == 2 and len(scores) == 2 else f"it gives scores of shape {tuple(scores.shape)}"


def _shape(base: Preprocessing, images: Images) -> str:
    height, width = base.size or tuple(images.shape[2:])
    return f"{base.channels or images.shape[1]}x{height}x{width}"


def _rounded(values: Tensor) -> tuple[float, ...]:
    return tuple(torch.round(values, decimals=4).tolist())
