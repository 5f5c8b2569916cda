"""A domain's judge as it lies in its model file: the panel and the fitted parts, loaded once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from torch import Tensor

from foible.classifiers.adapted import AdaptedClassifier
from foible.digest import sha256
from foible.domains import Domain
from foible.errors import ModelError
from foible.validators.evidence import Scale, Witnesses, columns
from foible.validators.panel import Panel
from foible.validators.parts import Closeness, Head, Weighing
from foible.validators.quality import Quality
from foible.validators.readers import available, reader
from foible.validators.scored import Percentile
from foible.validators.shapes import Shapes
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
    shapes: Shapes
    quality: Quality
    scale: Scale  # of all columns, those of readers included
    readers: tuple[str, ...]  # it was fitted with
    learnt: Mapping[str, Mapping[str, Tensor]]  # what some of them had to learn for the domain
    weighings: Mapping[str, Weighing]  # by the readers that are there: see `crew`
    classes: tuple[str, ...]
    digests: Mapping[str, str]
    enduring: bool = False  # whether images are also shown fainter and blurred
    worth: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # figures, by the readers that are there
    before: Mapping[str, Weighing] = field(default_factory=dict)  # weighings before they were drawn to people's answers

    def present(self) -> tuple[str, ...]:
        """The readers to judge with: those installed, as far as it was fitted for their company."""
        here = available(self.readers)
        return here if crew(here) in self.weighings else ()

    def witnesses(self, readers: Sequence[str]) -> Witnesses:
        """All that look at an image, with these readers."""
        opened = {key: reader(key, self.classes) for key in readers}
        return Witnesses(
            self.panel, self.closeness, self.head, self.shapes, self.quality, opened, self.learnt, self.enduring
        )

    def scale_for(self, readers: Sequence[str]) -> Scale:
        """The scale of the columns that there are with these readers."""
        every = columns(self.readers)
        places = [every.index(c) for c in columns(readers)]
        return Scale(self.scale.middle[places], self.scale.spread[places])

    def tensors(self) -> dict[str, Tensor]:
        """As they go into the model file; the panel's networks have files of their own."""
        parts = (self.closeness, self.head, self.shapes, self.quality, self.scale)
        named = {k: v for part in parts for k, v in part.named().items()}
        for company, weighing in self.weighings.items():
            named |= weighing.named(f"weighing {company}")
        for company, weighing in self.before.items():
            named |= weighing.named(f"before {company}")
        learnt = {f"learnt {key}.{k}": v for key, kept in self.learnt.items() for k, v in kept.items()}
        return named | learnt | {"temperatures": self.panel.temperatures, "usual": self.usual.ranked}

    def header(self, domain: Domain) -> Header:
        """How the judge is put together again; references that are no zoo models are looked for beside it."""
        config = {
            "references": [name if name in entries() else Path(name).name for name in self.panel.names],
            "readers": list(self.readers),
            "weighings": list(self.weighings),
            "before": list(self.before),
            "classes": list(self.classes),
            "enduring": self.enduring,
            "worth": {company: dict(figures) for company, figures in self.worth.items()},
        }
        return Header(role="validators", family=FAMILY, domain=domain.name, config=config)


def crew(readers: Sequence[str]) -> str:
    """What a company of readers is called in the model file."""
    return "+".join(readers) or "alone"


def fitted(domain: Domain) -> Fitted:
    """The judge that a domain names: a model of the zoo, or a file."""
    if domain.judge is None:
        raise ModelError(
            f"the domain '{domain.name}' has no judge",
            "train reference classifiers, name them under references in the domain file, "
            f"then: foible train judge --domain {domain.name}.toml --out judge.safetensors",
        )
    path = entry(domain.judge).path() if domain.judge in entries() else Path(domain.judge)
    return read_judge(path)


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
def read_judge(path: Path) -> Fitted:
    """The judge in a model file."""
    header, tensors = read_model_file(path)
    if header.family != FAMILY:
        raise ModelError(f"'{path}' is no judge but one of the {header.role}", "see `foible ls zoo`")
    names = [n if n in entries() else str(path.parent / n) for n in header.config["references"]]
    classifiers, digests = references(names)
    try:
        return _assembled(header.config, tensors, classifiers, digests | {path.name: sha256(path)})
    except KeyError as error:
        raise ModelError(
            f"the judge in '{path}' lacks {error}",
            "the file is damaged or from another version: fit it again with `foible train judge`",
        ) from error


def _assembled(
    config: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    classifiers: list[AdaptedClassifier],
    digests: Mapping[str, str],
) -> Fitted:
    learnt: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("learnt "):
            key, _, part = name.removeprefix("learnt ").partition(".")
            learnt.setdefault(key, {})[part] = tensor
    return Fitted(
        panel=Panel(classifiers, tensors["temperatures"]),
        closeness=Closeness.stored(tensors),
        usual=Percentile(tensors["usual"]),
        head=Head.stored(tensors),
        shapes=Shapes.stored(tensors),
        quality=Quality.stored(tensors),
        scale=Scale.stored(tensors),
        readers=tuple(config["readers"]),
        learnt=learnt,
        weighings={name: Weighing.stored(tensors, f"weighing {name}") for name in config["weighings"]},
        classes=tuple(config["classes"]),
        digests=digests,
        enduring=config["enduring"],
        worth=config["worth"],
        before={name: Weighing.stored(tensors, f"before {name}") for name in config.get("before", ())},
    )
