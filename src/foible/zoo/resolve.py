"""From what a recipe says (`use = ...`) to a live generator or classifier."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.kinds.recognise import is_own_model
from foible.classifiers.load import load_classifier
from foible.classifiers.variants import classifier_variant
from foible.digest import sha256
from foible.domains import Domain, RealImages
from foible.errors import ModelError, RecipeError, did_you_mean
from foible.registry import build, find, names_a_file, singular, table
from foible.zoo.catalogue import cards, entries, not_installed
from foible.zoo.files import load_model
from foible.zoo.trainable import trainable

SAID = frozenset({"mean", "std", "range", "size", "channels", "layout", "colours", "output", "classes"})


@dataclass(frozen=True)
class Resolved:
    """A live model and the sha256 of every file it came from."""

    model: Any
    digests: dict[str, str]


def resolve(
    role: str,
    use: str,
    parameters: Mapping[str, Any],
    domain: Domain | None = None,
    data: RealImages | None = None,
) -> Resolved:
    """A model by zoo name, by model file, by `file.py:Name`, by the name of a registered kind, or of the user's own.

    Args:
        role: "generators" or "classifiers".
        use: what the recipe says.
        parameters: the rest of the recipe's table.
        domain: what a classifier of the user's own is for; gives a kind of generator its shape where it needs one.
        data: real images on which its conventions are found out.

    A classifier's `variant` (and `share`) asks for a compressed version of it, see `classifiers/variants.py`.
    """
    if role == "classifiers" and "variant" in parameters:
        return _variant(use, parameters, domain, data)
    if role == "classifiers" and domain is not None and is_own_model(use, parameters):
        classifier = load_classifier(use, domain=domain, data=data, **parameters)
        return Resolved(classifier, classifier.digests)
    if names_a_file(use):
        return _from_file(role, use, parameters, domain, data)
    known = entries().get(use)
    if known is not None and known.settings is not None:
        given = {"folder": str(known.path()), **known.settings, **parameters}
        return Resolved(build(role, known.family, given), {known.name: known.sha256})
    if use in entries() or use.endswith(".safetensors"):
        if boxed := sorted({"untrusted", "limits", "insist"} & parameters.keys()):
            raise RecipeError(
                f"'{use}' is a file of numbers without code: no sandbox is needed", f"leave out {' and '.join(boxed)}"
            )
        path = entries()[use].path() if use in entries() else Path(use)
        name = use if use in entries() else path.stem
        return Resolved(load_model(path, role, name, parameters), {path.name: sha256(path)})
    if use in table(role):
        return Resolved(build(role, use, _offered(role, use, domain) | dict(parameters)), {})
    if use in cards() or use in trainable():
        raise not_installed(use, role)
    fitting = [n for n, e in entries().items() if e.role == role]
    raise RecipeError(
        f"no {singular(role)} is called '{use}'",
        did_you_mean(use, [*fitting, *table(role)])
        + "; a model file (.safetensors, .pt, .pt2, .onnx), a hub name or file.py:Name works too",
    )


def _from_file(
    role: str, use: str, parameters: Mapping[str, Any], domain: Domain | None, data: RealImages | None
) -> Resolved:
    """What the code of a user makes; a bare torch module becomes a classifier, and how it wants its images is found out."""
    source, _, called = use.rpartition(":")
    digests = {source: sha256(Path(source))}
    own = inspect.signature(find(role, use)).parameters if role == "classifiers" else parameters
    said = {k: v for k, v in parameters.items() if k in SAID and k not in own}
    made = build(role, use, {k: v for k, v in parameters.items() if k not in said})
    if role != "classifiers" or _complete(made):
        if said:
            build(role, use, parameters)  # names what it does not take
        return Resolved(made, digests)
    if not isinstance(made, nn.Module) or domain is None:
        raise ModelError(
            f"'{use}' gives a {type(made).__name__}, which is no classifier",
            "it must give a torch module; or name a function on arrays, file.py:predict",
        )
    adapted = load_classifier(made, domain=domain, data=data, name=f"{Path(source).stem}-{called}", **said)
    return Resolved(adapted, digests | adapted.digests)


def _complete(made: Any) -> bool:
    """Whether something is a classifier as it stands."""
    return callable(made) and all(hasattr(made, part) for part in ("name", "classes"))


def _offered(role: str, use: str, domain: Domain | None) -> dict[str, Any]:
    """The domain's shape for a kind that cannot do without one."""
    asked = inspect.signature(find(role, use)).parameters.get("shape")
    return {"shape": domain.shape} if domain is not None and asked is not None and asked.default is asked.empty else {}


def _variant(use: str, parameters: Mapping[str, Any], domain: Domain | None, data: RealImages | None) -> Resolved:
    rest = {k: v for k, v in parameters.items() if k not in {"variant", "share"}}
    whole = resolve("classifiers", use, rest, domain, data)
    if not isinstance(whole.model, AdaptedClassifier):
        raise RecipeError(
            f"no variant of '{use}' can be made: it is not a PyTorch network that foible adapts",
            "use weights with file.py:factory, a model of the zoo or of a hub",
        )
    share = {"share": parameters["share"]} if "share" in parameters else {}
    return Resolved(classifier_variant(whole.model, parameters["variant"], **share), whole.digests)
