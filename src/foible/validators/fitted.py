"""A domain's judge as it lies in its model file: the panel and the fitted parts, loaded once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torch import Tensor

from foible.classifiers.adapted import AdaptedClassifier
from foible.digest import sha256
from foible.domains import Domain
from foible.errors import ModelError
from foible.validators.panel import Panel
from foible.validators.parts import Closeness, Head, ImageFusion, LabelFusion
from foible.validators.scored import Percentile
from foible.zoo.catalogue import entries, entry
from foible.zoo.files import Header, load_model, read_model_file

FAMILY = "judge"


@dataclass(frozen=True)
class Fitted:
    """Everything that was fitted for a domain, and the files it came from."""

    panel: Panel
    closeness: Closeness
    usual: Percentile  # closeness of held-out real images
    head: Head
    image: ImageFusion
    label: LabelFusion
    thresholds: Mapping[str, float]  # "image" and "label"
    digests: Mapping[str, str]

    def tensors(self) -> dict[str, Tensor]:
        """As they go into the model file; the panel's networks have files of their own."""
        parts = (self.closeness, self.head, self.image, self.label)
        named = {k: v for part in parts for k, v in part.named().items()}
        return named | {"temperatures": self.panel.temperatures, "usual": self.usual.ranked}

    def header(self, domain: Domain) -> Header:
        """How the judge is put together again; references that are no zoo models are looked for beside it."""
        names = [name if name in entries() else Path(name).name for name in self.panel.names]
        config = {"references": names, "thresholds": dict(self.thresholds)}
        return Header(role="validators", family=FAMILY, domain=domain.name, config=config)


def fitted(domain: Domain) -> Fitted:
    """The judge that a domain names: a model of the zoo, or a file."""
    if domain.judge is None:
        raise ModelError(
            f"the domain '{domain.name}' has no judge",
            "train reference classifiers, name them under references in the domain file, "
            f"then: foible train judge --domain {domain.name}.toml --out judge.safetensors",
        )
    path = entry(domain.judge).path() if domain.judge in entries() else Path(domain.judge)
    return _read(path)


def judge_is_there(domain: Domain) -> bool:
    """Whether a domain has a judge whose file is installed."""
    if domain.judge is None:
        return False
    return domain.judge in entries() or Path(domain.judge).is_file()


def references(names: Sequence[str]) -> tuple[list[AdaptedClassifier], dict[str, str]]:
    """Reference classifiers by zoo name or file, and the sha256 of each file."""
    paths = [entry(n).path() if n in entries() else Path(n) for n in names]
    models = [load_model(path, "classifiers", name) for name, path in zip(names, paths, strict=True)]
    return models, {path.name: sha256(path) for path in paths}


@cache
def _read(path: Path) -> Fitted:
    header, tensors = read_model_file(path)
    if header.family != FAMILY:
        raise ModelError(f"'{path}' is no judge but one of the {header.role}", "see `foible ls zoo`")
    names = [n if n in entries() else str(path.parent / n) for n in header.config["references"]]
    classifiers, digests = references(names)
    try:
        return Fitted(
            panel=Panel(classifiers, tensors["temperatures"]),
            closeness=Closeness.stored(tensors),
            usual=Percentile(tensors["usual"]),
            head=Head.stored(tensors),
            image=ImageFusion.stored(tensors),
            label=LabelFusion.stored(tensors),
            thresholds=header.config["thresholds"],
            digests=digests | {path.name: sha256(path)},
        )
    except KeyError as error:
        raise ModelError(
            f"the judge in '{path}' lacks {error}", "the file is damaged or from another version"
        ) from error
