"""What can be chosen in the form, and reading a form that came from a browser: names from the lists, never paths."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foible.campaign.built_in import recipe_names
from foible.campaign.spec import load_recipe
from foible.domains import Domain, domain_names, load_domain
from foible.errors import FoibleError, RecipeError
from foible.ui.form import DEFAULTS, Problem, SetUp, set_up
from foible.ui.sessions import Session
from foible.ui.shelf import Shelf
from foible.ui.uploads import table_of
from foible.zoo import Entry, entries

UPLOADED, NAMED = "upload:", "named"
HUB = re.compile(r"(timm|torchvision):[\w.-]+|hf:[\w-][\w.-]*/[\w.-]+")
ADDRESS = re.compile(r"https?://[^\s/]+(/\S*)?")


@dataclass(frozen=True)
class Offers:
    """Everything on the lists."""

    domains: tuple[Domain, ...]
    generators: tuple[Entry, ...]
    classifiers: tuple[Entry, ...]


def offers() -> Offers:
    """What this installation has. A domain without a generator cannot be searched and is left out."""
    generators, classifiers = (
        tuple(e for e in entries().values() if e.role == role) for role in ("generators", "classifiers")
    )
    fitting = {g.domain for g in generators}
    return Offers(tuple(load_domain(n) for n in domain_names() if n in fitting), generators, classifiers)


def fitting_recipes() -> list[tuple[str, str]]:
    """The built-in recipes that the form can show, with their titles: all their parts are on the lists."""
    lists, found = offers(), []
    for name in recipe_names():
        recipe = load_recipe(name)
        parts = ((recipe.generator, lists.generators), (recipe.classifier, lists.classifiers))
        if all(
            not p.parameters and p.use in {e.name for e in listed if e.domain == recipe.domain} for p, listed in parts
        ):
            found.append((name, recipe.title or name))
    return found


def with_first_choices(fields: Mapping[str, str]) -> dict[str, str]:
    """The form with the first fitting domain, generator and classifier chosen where none is."""
    filled, lists = {**DEFAULTS, **fields}, offers()
    if filled["domain"] not in {d.name for d in lists.domains} and lists.domains:
        filled["domain"] = lists.domains[0].name
    for part, entries_ in (("generator", lists.generators), ("classifier", lists.classifiers)):
        fitting = [e.name for e in entries_ if e.domain == filled["domain"]]
        if not filled[part] and fitting:
            filled[part] = fitting[0]
    return filled


def read_form(fields: Mapping[str, str], session: Session, shelf: Shelf) -> SetUp:
    """A form as the recipe it stands for, or with what is wrong in it."""
    try:
        reference = _checked(fields, session)
        name = fields.get("name", "").strip()
        if name and shelf.layout(name).folder.exists():
            raise _Wrong("name", f"there is a run called '{name}' already", "choose another name")
        return set_up(fields, reference)
    except _Wrong as wrong:
        return SetUp({**DEFAULTS, **fields}, None, (wrong.problem,))
    except RecipeError as error:
        return SetUp({**DEFAULTS, **fields}, None, (Problem("name", error.message, error.hint),))


class _Wrong(Exception):
    def __init__(self, place: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.problem = Problem(place, message, hint)


def _checked(fields: Mapping[str, str], session: Session) -> Mapping[str, Any] | str:
    """What the recipe says of the classifier, after everything that names something has been looked up."""
    lists, domain = offers(), fields.get("domain", DEFAULTS["domain"])
    if domain not in {d.name for d in lists.domains}:
        raise _Wrong("domain", f"no domain is called '{domain[:80]}'", "pick one of the list")
    generator, classifier = fields.get("generator", ""), fields.get("classifier", "")
    if generator and generator not in {g.name for g in lists.generators if g.domain == domain}:
        raise _Wrong("generator", f"'{generator[:80]}' is not a generator of '{domain}'", "pick one of the list")
    if classifier.startswith(UPLOADED):
        try:
            return table_of(session.upload(classifier.removeprefix(UPLOADED)).path)
        except FoibleError as error:
            raise _Wrong("classifier", error.message, error.hint) from error
    if classifier == NAMED:
        return _named(fields.get("reference", "").strip())
    if classifier and classifier not in {c.name for c in lists.classifiers if c.domain == domain}:
        raise _Wrong("classifier", f"'{classifier[:80]}' is not a classifier of '{domain}'", "pick one of the list")
    return classifier


def _named(reference: str) -> str:
    """A hub name or an address; whatever could be a file of this machine is refused."""
    local = reference.startswith("hf:") and Path(reference.removeprefix("hf:")).exists()
    if local or not (HUB.fullmatch(reference) or ADDRESS.fullmatch(reference)):
        raise _Wrong(
            "reference",
            f"'{reference[:80]}' is neither the name of a published model nor an address",
            "write timm:NAME, torchvision:NAME, hf:OWNER/NAME or https://...; upload a file instead of naming it",
        )
    return reference
