"""From what a recipe says (`use = ...`) to a live generator or classifier."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.kinds.recognise import is_own_model
from foible.classifiers.load import load_classifier
from foible.classifiers.variants import classifier_variant
from foible.digest import sha256
from foible.domains import Domain, RealImages
from foible.errors import RecipeError, did_you_mean
from foible.registry import build, find, names_a_file, singular, table
from foible.zoo.catalogue import cards, entries, not_installed
from foible.zoo.files import load_model
from foible.zoo.trainable import trainable


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
        source = Path(use.rpartition(":")[0])
        return Resolved(build(role, use, parameters), {str(source): sha256(source)})
    known = entries().get(use)
    if known is not None and known.settings is not None:
        given = {"folder": str(known.path()), **known.settings, **parameters}
        return Resolved(build(role, known.family, given), {known.name: known.sha256})
    if use in entries() or use.endswith(".safetensors"):
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
