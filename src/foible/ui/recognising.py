"""Which domain is a model for? It is tried on real images of each; where it is right most often is what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.adapting.conventions import Said, Undecided, choose
from foible.classifiers.adapting.scores import share_right
from foible.classifiers.load import open_network, probe_images
from foible.classifiers.network import Network
from foible.domains import Domain, RealImages, load_domain, real_images
from foible.domains.made import MadeImages
from foible.errors import DataError, FoibleError
from foible.faces import Closable
from foible.zoo import entries, load_model

BETTER_THAN_CHANCE = 3.0  # how often it must be right, as a multiple of guessing
IMAGES = 64  # of each domain: enough to tell one from another
SURE = 0.9  # right so often, it need not be tried on other domains
AHEAD = 0.15  # by how much of the images it must be ahead of every other domain


@dataclass(frozen=True)
class Tried:
    """How a model did on one domain: the share of real images it gets right, None where it cannot take them."""

    domain: str
    share: float | None
    chance: float
    why: str = ""


@dataclass(frozen=True)
class Recognised:
    """The domain a model is for, None where that cannot be told; what was tried, and what went wrong."""

    domain: str | None
    tried: tuple[Tried, ...]
    problem: str = ""


@torch.inference_mode()
def recognise(model: Mapping[str, Any], domains: Mapping[str, str]) -> Recognised:
    """Try a model (a recipe's table) on domains (name -> what a recipe says), until one of them is beyond doubt."""
    try:
        network, called = open_network(str(model["use"]), model.get("untrusted"))
    except FoibleError as error:
        return Recognised(None, (), error.message)
    try:
        for other_shapes in (False, True):  # a model that fits a domain as it is need not be tried on enlarged images
            tried = _try_all(network, called, domains, other_shapes)
            if (found := told_apart(tried)) is not None:
                break
        return Recognised(found, tried)
    finally:
        if isinstance(network, Closable):
            network.close()


def _try_all(network: Network, called: str, domains: Mapping[str, str], other_shapes: bool) -> tuple[Tried, ...]:
    """How a model does on each domain, until one of them is beyond doubt."""
    tried: list[Tried] = []
    for name, use in domains.items():
        tried.append(_try(network, called, name, use, other_shapes))
        if (tried[-1].share or 0.0) >= SURE:
            break
    return tuple(tried)


def told_apart(tried: tuple[Tried, ...]) -> str | None:
    """The one domain on which a model is clearly right most often; None where there is no such one."""
    ranked = sorted((t for t in tried if t.share is not None), key=lambda t: -(t.share or 0.0))
    if not ranked or (ranked[0].share or 0.0) < BETTER_THAN_CHANCE * ranked[0].chance:
        return None
    if len(ranked) > 1 and (ranked[0].share or 0.0) - (ranked[1].share or 0.0) < AHEAD:
        return None
    return ranked[0].domain


def _images(domain: Domain) -> RealImages:
    """Real images; where there are none, those that a generator of the zoo makes from nothing."""
    try:
        return real_images(domain)
    except DataError:
        makers = [e for e in entries().values() if e.domain == domain.name and e.family == "gan"]
        if not makers:
            raise
    return MadeImages(load_model(makers[0].path(), "generators"), len(domain.classes))


def _try(network: Network, called: str, name: str, use: str, other_shapes: bool) -> Tried:
    domain = load_domain(use)
    classes = len(domain.classes)
    try:
        images, labels = probe_images(_images(domain), IMAGES)
        chosen = choose(network, Said(), images, labels, other_shapes=other_shapes)
        scores = AdaptedClassifier(called, network, domain.classes, chosen.preprocessing).raw_scores(images)
        if scores.shape[1] != classes:
            return Tried(name, None, 1 / classes, f"it gives {scores.shape[1]} scores, there are {classes} classes")
        return Tried(name, share_right(scores, labels), 1 / classes)
    except Undecided as error:  # it fits in more than one way: on this domain, all the same
        return Tried(name, error.accuracy, 1 / classes, error.message)
    except FoibleError as error:
        return Tried(name, None, 1 / classes, error.message)
    except Exception as error:
        return Tried(name, None, 1 / classes, f"{type(error).__name__}: {error}")
