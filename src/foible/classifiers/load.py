"""Bring your own classifier: one function from whatever you have to a classifier foible can search against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.adapting.conventions import Said, choose
from foible.classifiers.adapting.preprocessing import Colours
from foible.classifiers.adapting.scores import class_columns, output_kind
from foible.classifiers.kinds.recognise import recognise
from foible.classifiers.network import Layout, ModuleNetwork, Network, OutputKind
from foible.digest import code_digest, endpoint_digest, sha256, weights_digest
from foible.domains import Domain, RealImages, load_domain, real_images
from foible.errors import ModelError, RecipeError
from foible.images import worth_a_look
from foible.registry import build, find, refuse_unfit
from foible.sandbox.limits import Limits
from foible.types import Capability

PROBES = 200  # real images looked at
MORE_PROBES = 2000  # where that is not enough to tell what a model wants
Model = str | Path | nn.Module | Callable[[Any], Any]


def load_classifier(
    reference: Model,
    *,
    domain: str | Path | Domain,
    data: str | Path | RealImages | None = None,
    name: str | None = None,
    mean: Sequence[float] | float | None = None,
    std: Sequence[float] | float | None = None,
    range: Sequence[float] | None = None,
    size: Sequence[int] | int | None = None,
    channels: int | None = None,
    layout: Layout | None = None,
    colours: Colours | None = None,
    output: OutputKind | None = None,
    classes: Sequence[str] | None = None,
    untrusted: bool | None = None,
    insist: bool = False,
    limits: Mapping[str, float] | None = None,
    **settings: Any,
) -> AdaptedClassifier:
    """A classifier from a file, a name, an address, a function or a live torch module.

    Args:
        reference: TorchScript (.pt, .jit), exported program (.pt2), .onnx, weights (with `factory`), `timm:NAME`,
            `torchvision:NAME`, `hf:NAME`, `file.py:predict`, an http(s) address; a kind such as "onnx" whose settings
            follow; or a live torch module or function on arrays.
        domain: what images and classes it is for.
        data: labelled real images on which what is not said is found out; None looks around as for any domain.
        name: what to call it in reports.
        mean, std: per channel, in the units of the range.
        range: black and white as the model knows them, such as (0, 255).
        size: height and width of its input.
        channels: 1 or 3.
        layout: "nchw" or "nhwc".
        colours: "rgb" or "bgr": the order of its three channels.
        output: what its scores are: "logits", "probabilities" or "log-probabilities".
        classes: its class names in the order of its scores; the domain's by default.
        untrusted: run it in a worker process without network or access to your files. Left out, files that carry code
            (TorchScript, exported programs, pickles) do; False runs such a file as a program of your own.
        insist: go on with an untrusted file where this machine cannot isolate it.
        limits: of the worker: memory_gb, call_seconds, load_seconds, cpu_seconds, scratch_mb.
        settings: of the kind, such as `factory`, `weights`, `pickles`, `headers`.
    """
    domain = domain if isinstance(domain, Domain) else load_domain(domain)
    real = real_images(domain, data, "test") if data is None or isinstance(data, str | Path) else data
    said = Said(_floats(mean), _floats(std), _pair(range, float), _pair(size, int), channels, layout, colours)
    network, called, digests = _opened(reference, untrusted, insist, limits, settings)
    try:
        return _adapted(network, name or called, domain, real, said, output, classes, digests)
    except BaseException:
        if callable(close := getattr(network, "close", None)):
            close()
        raise


def probe_images(real: RealImages, count: int = PROBES) -> tuple[torch.Tensor, torch.Tensor]:
    """The labelled real images a classifier is probed on: always the same ones, of all classes, fewer of large ones."""
    order = torch.randperm(len(real.labels), generator=torch.Generator().manual_seed(0))
    order = order[: count * worth_a_look(real.images(order[:1]).shape, PROBES) // PROBES]
    return real.images(order), real.labels[order]


def open_network(reference: str | Path, untrusted: bool | None = None) -> tuple[Network, str]:
    """A model file as it is, and what to call it, before anything is known of how it wants its images."""
    network, called, _ = _opened(reference, untrusted, False, None, {})
    return network, called


def _opened(
    reference: Model,
    untrusted: bool | None,
    insist: bool,
    limits: Mapping[str, float] | None,
    settings: dict[str, Any],
) -> tuple[Network, str, dict[str, str]]:
    """The network, what to call it, and the digests of its files."""
    allowed = _limits(limits)
    if isinstance(reference, nn.Module):
        _no_settings("a live torch module", settings)
        _in_sandbox("a live torch module", False, untrusted, limits)
        called = type(reference).__name__
        return ModuleNetwork(reference), called, {f"classifier object {called}": weights_digest(reference)}
    if not isinstance(reference, str | Path):
        _in_sandbox("a live function", False, untrusted, limits)
        called = getattr(reference, "__name__", type(reference).__name__)
        return (
            build("kinds", "function", {"function": reference, **settings}),
            called,
            {f"function {called}": code_digest(reference)},
        )
    found = recognise(str(reference), settings)
    settings = {**found.settings, **settings}
    kind = find("kinds", found.kind)
    refuse_unfit("kinds", found.kind, kind, settings)
    files = kind.files(**settings)
    digests = {p.name: sha256(p) for p in files} or _endpoint(kind, settings)
    code = carries_code(found.kind, settings) if untrusted is None else untrusted
    if _in_sandbox(f"'{found.name}'", code and not getattr(kind, "harmless", False), False, limits):
        from foible.classifiers.kinds.sandboxed import (
            SandboxedNetwork,  # needs a Unix system, which other models do not
        )

        return SandboxedNetwork(found.name, found.kind, settings, files, allowed, insist), found.name, digests
    network = build("kinds", found.kind, settings)
    if carries_code(found.kind, settings):
        network.notes = ["the code in this file runs as a program of yours: it may read and write your files"]
    return network, found.name, digests


def _endpoint(kind: Any, settings: Mapping[str, Any]) -> dict[str, str]:
    """What an endpoint is known by: its address and what decides how it is asked, not how patiently."""
    asked = {k: settings[k] for k in kind.asks if k in settings}
    return {settings["url"]: endpoint_digest(settings["url"], asked)}


@torch.no_grad()
def _adapted(
    network: Network,
    name: str,
    domain: Domain,
    real: RealImages,
    said: Said,
    output: OutputKind | None,
    classes: Sequence[str] | None,
    digests: dict[str, str],
) -> AdaptedClassifier:
    own = tuple(classes) if classes is not None else network.facts.classes or domain.classes
    columns = class_columns(name, own, domain.classes)
    images, labels = probe_images(real)
    paid = hasattr(network, "cost")  # an endpoint is not asked about more images than needed
    more = None if paid else lambda: probe_images(real, MORE_PROBES)

    def refuse(scores: torch.Tensor) -> None:
        if scores.shape[1] != len(own):
            raise ModelError(
                f"classifier '{name}' gave {scores.shape[1]} scores, "
                f"the domain '{domain.name}' has {len(domain.classes)} classes"
                + ("" if own == domain.classes else f" and {len(own)} were named"),
                "pass classes=... in the order of its scores, or pick another domain",
            )

    chosen = choose(network, said, images, labels, columns, more, refuse)
    notes = [chosen.note, *getattr(network, "notes", ())]
    draft = AdaptedClassifier(name, network, domain.classes, chosen.preprocessing)
    scores = draft.raw_scores(images)
    kind = output or network.facts.output or output_kind(scores)
    notes.append(f"output: {kind}" + (" (as you say)" if output else " (seen)"))
    if columns is not None:
        notes.append(
            f"classes: columns {list(columns[:10])}{'...' if len(columns) > 10 else ''} of its scores, by name"
        )
    adapted = AdaptedClassifier(name, network, domain.classes, chosen.preprocessing, kind, columns, digests, notes)
    if Capability.GRADIENT in adapted.offers and not lends_gradients(adapted, images[:2]):
        adapted.offers -= {Capability.GRADIENT}
        adapted.notes += ("gradients: none, since something inside it cuts them off",)
    return adapted


def lends_gradients(classifier: AdaptedClassifier, images: torch.Tensor) -> bool:
    """Whether a gradient of the logits arrives at the images: a model may round, detach or switch gradients off inside."""
    with torch.inference_mode(False), torch.enable_grad():
        images = images.clone().requires_grad_()
        try:
            (gradient,) = torch.autograd.grad(classifier(images).sum(), images)
        except (RuntimeError, ModelError):
            return False
    return bool(torch.isfinite(gradient).all())


def carries_code(kind: str, settings: Mapping[str, Any]) -> bool:
    """Whether opening or calling such a file runs a program that is inside it; source code one names is one's own."""
    return kind in {"torchscript", "exported"} or (kind == "weights" and bool(settings.get("pickles")))


def _in_sandbox(what: str, inside: bool, wished: bool | None, limits: Mapping[str, float] | None) -> bool:
    """Whether a model runs in the sandbox; limits, or the wish for one, are refused where it does not."""
    if limits and not inside:
        raise RecipeError(
            f"{what} does not run in the sandbox, so that no limit holds", "add --untrusted, or leave out --limit"
        )
    if wished and not inside:
        raise RecipeError(f"{what} is part of this program already: no sandbox can hold it", "leave out untrusted")
    return inside


def _limits(given: Mapping[str, float] | None) -> Limits:
    known = [f.name for f in fields(Limits)]
    for key in given or {}:
        if key not in known:
            raise RecipeError(f"there is no limit called '{key}'", f"known: {', '.join(known)}")
    try:
        return Limits(**(given or {}))
    except TypeError as error:
        raise RecipeError(f"limits = {given!r} is not a table of numbers", "for example memory_gb = 2") from error


def _no_settings(what: str, settings: dict[str, Any]) -> None:
    if settings:
        raise RecipeError(f"{what} takes no setting '{next(iter(settings))}'", "see docs/your-model.md")


def _floats(values: Sequence[float] | float | None) -> tuple[float, ...] | None:
    if values is None:
        return None
    return (float(values),) if isinstance(values, int | float) else tuple(float(v) for v in values)


def _pair(values: Any, number: type) -> Any:
    """Two numbers from two, or from one that stands for both."""
    if values is None:
        return None
    pair = (values, values) if isinstance(values, int | float) else tuple(values)
    if len(pair) != 2:
        raise RecipeError(
            f"expected two numbers, got {list(pair)}", "for example 28,28 for a size or 0,255 for a range"
        )
    return tuple(number(v) for v in pair)
