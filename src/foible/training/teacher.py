"""The classifier that teaches a generator, found by name."""

from __future__ import annotations

from pathlib import Path

from foible.domains import Domain
from foible.errors import RecipeError
from foible.generators.networks.teacher import Teacher
from foible.zoo.catalogue import entries, not_installed
from foible.zoo.files import read_model_file
from foible.zoo.trainable import trainable


def known_teacher(domain: Domain, use: str, layers: list[str]) -> Teacher:
    """A trained classifier as a teacher.

    Args:
        domain: what the generator is for.
        use: a classifier by zoo name or model file; not the one under test, whose failures could not be found any more.
        layers: names of the layers whose maps it shows.
    """
    if use == domain.classifier:
        raise RecipeError(
            f"teacher: '{use}' is the classifier under test: images made to please it hide its failures",
            "train another one, as recipes/training/svhn-teacher.toml does",
        )
    if use not in entries() and use in trainable():
        raise not_installed(use, "classifiers")
    header, tensors = read_model_file(entries()[use].path() if use in entries() else Path(use))
    if header.role != "classifiers":
        raise RecipeError(f"teacher: '{use}' is one of the {header.role}", "name a classifier of the domain")
    known = {part: header.config[part] for part in ("network", "network_config", "mean", "std")}
    teacher = Teacher(**known, layers=layers)
    teacher.network.load_state_dict(tensors)
    return teacher
