"""How does a model want its images? What its file says, what the user says, and else what real images show.

The usual conventions are tried on labelled real images (trials.py). Where two of them cannot be told apart and the model
would answer otherwise, it is for the user to say: a guess would make failures of what are none.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.adapting.causes import hint_for, other_precision
from foible.classifiers.adapting.preprocessing import Colours, Preprocessing
from foible.classifiers.adapting.settings import spoken
from foible.classifiers.adapting.trials import GOOD, LARGEST_LOSS, Trial, contenders, trial
from foible.classifiers.network import Facts, Layout, Network, Precision
from foible.errors import FoibleError, ModelError
from foible.types import Images

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CAFFE_MEAN = (103.939, 116.779, 123.68)  # blue, green, red
SIDES = (28, 32, 64, 96, 128, 224, 256, 299)
LIKELY = (None, (32, 32), (64, 64), (224, 224))  # sizes tried on a model that takes any
FEW = 32  # images for a first look at other sizes
MOST_CHOICES = 3  # offered to the user
GREAT = 0.9  # an accuracy from which on nothing else is tried
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Said:
    """What the user says about a model's input; None where nothing is said."""

    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    range: tuple[float, float] | None = None
    size: tuple[int, int] | None = None
    channels: int | None = None
    layout: Layout | None = None
    colours: Colours | None = None


@dataclass(frozen=True)
class Chosen:
    """How images will go into the model, and why."""

    preprocessing: Preprocessing
    note: str
    clear: bool = True


class Undecided(ModelError):
    """Two conventions cannot be told apart; `choices` are what to say of the model for each, as text by setting."""

    def __init__(self, trials: list[Trial]) -> None:
        choices = [said_of(t.preprocessing) for t in trials]
        usual = {"colours": "rgb"} if any("colours" in said for said in choices) else {}
        self.choices = tuple(said | usual | said for said in choices)
        self.accuracy = max(t.accuracy for t in trials)
        ways = " or ".join(f"{t.preprocessing} ({t.figures})" for t in trials)
        options = "   or   ".join(" ".join(f"--{k}={v}" for k, v in said.items()) for said in self.choices)
        super().__init__(f"how the model wants its images cannot be told: {ways}", f"say which it is: {options}")


def choose(
    network: Network,
    said: Said,
    images: Images,
    labels: Tensor,
    columns: Any = None,
    more: Callable[[], tuple[Images, Tensor]] | None = None,
    refuse: Callable[[Tensor], None] = lambda _: None,
    other_shapes: bool = True,
) -> Chosen:
    """The preprocessing of a model: said, stated by its file, or found by trying.

    Args:
        network: the model.
        said: what the user says of it.
        images: labelled real images to try it on.
        labels: their classes.
        columns: which of its scores stand for the classes.
        more: gives further images: for the spread of their values, and should these not be enough to tell two
            conventions apart.
        refuse: raises an error for scores that cannot be right under any convention.
        other_shapes: try other input shapes too, where no convention fits: large ones take long.
    """
    facts = network.facts
    base = Preprocessing(
        channels=said.channels or facts.channels,
        colours=said.colours or "rgb",
        size=said.size or facts.size,
        dtype=facts.dtype,
        layout=said.layout or facts.layout,
    )
    values = _values(said, facts)
    geometries = list(_geometries(base, images))
    fitting = _fitting(network, geometries, images, said.layout is None)
    refuse(AdaptedClassifier("probe", network, (), fitting).raw_scores(images[:2]))
    if values is not None:
        preprocessing, source = replace(fitting, **values[0]), values[1]
        return Chosen(preprocessing, f"input: {preprocessing} ({source})")
    log.info("trying how the model wants its images, on %d of them", len(images))
    further = more() if more is not None else (images, labels)
    spread = partial(conventions, typical=further[0])
    trials = [_tried(network, g, images, labels, columns) for g in spread(fitting)]
    if said.colours is None:
        trials += _other_colours(network, trials, images, labels, columns)
    # NaN under every convention is for the probe to tell, and not worth another shape
    says_something = any(t.mean_loss < LARGEST_LOSS for t in trials)
    shape_is_open = other_shapes and says_something and (base.channels is None or base.size is None)
    if max(t.accuracy for t in trials) < GOOD and shape_is_open:
        trials += (found := _elsewhere(network, geometries, spread, images, labels, columns))
        if found and said.colours is None:
            trials += _other_colours(network, found, images, labels, columns)
    reordered = [t.reordered for t in trials if t.reordered is not None]
    if max(t.accuracy for t in trials) < GOOD <= max(t.accuracy for t in reordered):
        trials = reordered  # the order of its classes is wrong too: the probe will say so
    if len(further[0]) > len(images) and len(rivals := _rivals(trials)) > 1:
        log.info("trying %d conventions that are nearly alike on more images", len(rivals))
        again = [_tried(network, t.preprocessing, *further, columns) for t in rivals]
        trials = again if trials is not reordered else [t.reordered for t in again if t.reordered is not None]
    return _winner(trials)


def _rivals(trials: list[Trial]) -> list[Trial]:
    """The conventions among which a choice is not clear, the plainest first."""
    if max(t.accuracy for t in trials) < GOOD:
        return []
    open_ones = contenders(trials)
    return [t for t in trials if any(t is one for one in open_ones)]


def said_of(preprocessing: Preprocessing) -> dict[str, str]:
    """What a user would say of a model that wants this, as text by setting."""
    usual = Preprocessing()
    facts: dict[str, Any] = {"range": preprocessing.range}
    facts |= {k: v for k in ("mean", "std", "colours", "size") if (v := getattr(preprocessing, k)) != getattr(usual, k)}
    return spoken(facts)


def _values(said: Said, facts: Facts) -> tuple[dict[str, Any], str] | None:
    """Range, mean and std where the user or the file states them, and who it was."""
    for source, stated in (("as you say", said), (f"from {facts.source}", facts)):
        known = {k: getattr(stated, k) for k in ("range", "mean", "std") if getattr(stated, k) is not None}
        if known:
            return known, source
    return None


def _fitting(network: Network, geometries: list[Preprocessing], images: Images, any_layout: bool) -> Preprocessing:
    """The first input shape that a model takes; with the channels in another place or another precision if need be."""
    problems = []
    turned = [replace(g, layout="nchw" if g.layout == "nhwc" else "nhwc") for g in geometries[:2] if any_layout]
    for geometry in [*geometries, *turned]:
        problem = _problem(network, geometry, images)
        if problem and (precision := other_precision(problem)):
            geometry = replace(geometry, dtype=cast(Precision, precision))
            problem = _problem(network, geometry, images)
        if problem is None:
            return geometry
        problems.append(problem)
    raise ModelError(
        f"the model cannot take images of the domain, {_shape(geometries[0], images)}: {problems[0]}",
        hint_for(problems[0]),
    )


def _geometries(base: Preprocessing, images: Images) -> Iterator[Preprocessing]:
    """The input shapes a model may want, the domain's own first."""
    own = images.shape[1]
    channels = [base.channels] if base.channels else [own, 4 - own] if own in (1, 3) else [own]
    sizes = [base.size] if base.size else [None, *((s, s) for s in SIDES if (s, s) != tuple(images.shape[2:]))]
    for size in sizes:
        for count in channels:
            yield replace(base, channels=count, size=size)


def conventions(base: Preprocessing, typical: Images) -> Iterator[Preprocessing]:
    """The ways in which values are commonly scaled, the plainest first; standardised by the spread of typical images."""
    yield base
    yield replace(base, range=(0.0, 255.0))
    if base.dtype == "uint8":
        return
    yield replace(base, range=(-1.0, 1.0))
    seen = replace(base, size=None, layout="nchw", dtype="float32")(typical)
    mean, std = seen.mean((0, 2, 3)), seen.std((0, 2, 3)).clamp_min(1e-3)
    yield replace(base, mean=_rounded(mean), std=_rounded(std))
    if seen.shape[1] == 3:
        bgr = base.colours == "bgr"
        yield replace(base, mean=IMAGENET_MEAN[:: -1 if bgr else 1], std=IMAGENET_STD[:: -1 if bgr else 1])
        yield replace(base, range=(0.0, 255.0), mean=CAFFE_MEAN[:: 1 if bgr else -1])
    yield replace(base, range=(1.0, 0.0))


def _other_colours(network: Network, trials: list[Trial], images: Images, labels: Tensor, columns: Any) -> list[Trial]:
    """The two best ways of scaling again, with blue first; and Caffe's, which is nearly always used so."""
    first = trials[0].preprocessing
    if (first.channels or images.shape[1]) != 3 or images.shape[1] != 3:
        return []
    best = sorted(trials, key=lambda t: t.mean_loss)[:2]
    ways = [
        replace(t.preprocessing, colours="bgr", mean=t.preprocessing.mean[::-1], std=t.preprocessing.std[::-1])
        for t in best
    ]
    if first.dtype != "uint8":
        ways.append(replace(first, colours="bgr", range=(0.0, 255.0), mean=CAFFE_MEAN))
    return [_tried(network, way, images, labels, columns) for way in dict.fromkeys(ways)]


def _elsewhere(
    network: Network,
    geometries: list[Preprocessing],
    spread: Callable[[Preprocessing], Iterator[Preprocessing]],
    images: Images,
    labels: Tensor,
    columns: Any,
) -> list[Trial]:
    """Conventions under other input shapes, for models that take any shape but know only one."""
    best, found = 0.0, []
    for geometry in geometries[1:]:
        if best > GREAT:
            break
        if (geometry.size not in LIKELY and len(geometries) > 2) or _problem(network, geometry, images) is not None:
            continue
        log.info("no convention fits so far: trying inputs of %s", _shape(geometry, images))
        for convention in spread(geometry):
            first = _tried(network, convention, images[:FEW], labels[:FEW], columns)
            if first.accuracy > max(best, GOOD):
                best = first.accuracy
                found.append(_tried(network, convention, images, labels, columns))
    return found


def _winner(trials: list[Trial]) -> Chosen:
    """The convention that fits best; none where two cannot be told apart."""
    if max(t.accuracy for t in trials) < GOOD:
        taken = trials[0]
        return Chosen(
            taken.preprocessing,
            f"input: {taken.preprocessing} (tried: {taken.figures}; no convention does better than half)",
            clear=False,
        )
    taken, *rivals = contenders(trials)
    if rivals:
        raise Undecided(sorted([taken, *rivals], key=lambda t: float(t.tempered.mean()))[:MOST_CHOICES])
    note = f"input: {taken.preprocessing} (tried: {taken.figures}"
    others = [t for t in trials if not torch.equal(t.answers, taken.answers)]
    if not others:
        return Chosen(taken.preprocessing, note + ")")
    second = min(others, key=lambda t: t.mean_loss)
    return Chosen(
        taken.preprocessing,
        note + f"; next best, {second.preprocessing}: {second.accuracy:.1%}, {second.mean_loss:.3g})",
    )


def _tried(network: Network, preprocessing: Preprocessing, images: Images, labels: Tensor, columns: Any) -> Trial:
    return trial(preprocessing, AdaptedClassifier("probe", network, (), preprocessing, columns=columns), images, labels)


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
    return tuple(round(v, 4) for v in values.tolist())
