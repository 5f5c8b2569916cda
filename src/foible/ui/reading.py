"""Reading a form that came from a browser: names from the lists, keys of the session, never paths."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foible.classifiers.adapting.settings import SPOKEN, read_settings
from foible.classifiers.variants import variant_kinds
from foible.errors import FoibleError, RecipeError
from foible.ui.command import as_table
from foible.ui.form import SetUp, set_up
from foible.ui.offers import Offers
from foible.ui.problems import Problem, Wrong
from foible.ui.questions import CHANGES, SEARCHED, question
from foible.ui.sessions import Session
from foible.ui.shelf import Shelf
from foible.ui.uploads import describes_itself, table_of

UPLOADED, NAMED, VARIANT = "upload:", "named", "variant:"
HUB = re.compile(r"(timm|torchvision):[\w.-]+|hf:[\w-][\w.-]*/[\w.-]+")
ADDRESS = re.compile(r"https?://[^\s/]+(/\S*)?")


def with_first_choices(fields: Mapping[str, str], offers: Offers) -> dict[str, str]:
    """The form with the first fitting domain, generator and classifier chosen where none is."""
    asked = question(fields.get("question", offers.menu.defaults["question"]), SEARCHED)
    filled = {**offers.menu.defaults, **asked.first, **fields}
    if offers.domain(filled["domain"]) is None and offers.domains:
        filled["domain"] = offers.domains[0].name
    for part, listed in (("generator", offers.generators), ("classifier", offers.classifiers)):
        fitting = [c.name for c in listed if c.domain == filled["domain"] and not c.obstacle]
        if not filled[part] and fitting:
            filled[part] = fitting[0]
    if asked is CHANGES and not filled["rival"]:
        filled["rival"] = f"{VARIANT}{variant_kinds()[0]}"
    return filled


def read_form(fields: Mapping[str, str], session: Session, shelf: Shelf, offers: Offers) -> SetUp:
    """A form as the recipe it stands for, or with what is wrong in it."""
    defaults = offers.menu.defaults
    filled = {**defaults, **fields}
    try:
        parts = _checked(filled, session, offers)
        name = filled["name"].strip()
        if name and shelf.layout(name).folder.exists():
            raise Wrong("name", f"there is a run called '{name}' already", "choose another name")
        return set_up(fields, offers.menu, parts)
    except Wrong as wrong:
        return SetUp(filled, defaults, None, (wrong.problem,))
    except RecipeError as error:
        return SetUp(filled, defaults, None, (Problem("name", error.message, error.hint),))


def _checked(fields: Mapping[str, str], session: Session, offers: Offers) -> dict[str, Any]:
    """What the recipe says of the models, after everything that names something has been looked up."""
    domain, generator = offers.domain(fields["domain"]), offers.generator(fields["generator"])
    if domain is None:
        raise Wrong("domain", f"no domain is called '{fields['domain'][:80]}'", "pick one of the list")
    if fields["question"] not in SEARCHED:
        raise Wrong("question", f"'{fields['question'][:40]}' is not a question that a search answers", "start again")
    asked = SEARCHED[fields["question"]]
    parts: dict[str, Any] = {"domain": domain.use, "asked": asked.facts(domain.domain)}
    if fields["generator"]:
        if generator is None or generator.domain != domain.name:
            what = f"'{fields['generator'][:80]}' is not a generator of '{domain.name}'"
            raise Wrong("generator", what, "pick one of the list")
        parts["generator"] = generator.use
    if fields["classifier"]:
        parts["classifier"] = _classifier(fields, session, offers)
        if asked is CHANGES:
            parts["rival"] = _rival(fields, session, offers, parts["classifier"])
    return parts


def _rival(
    fields: Mapping[str, str], session: Session, offers: Offers, first: Mapping[str, Any] | str
) -> Mapping[str, Any]:
    """The second model: another one, or the first in another version. What is said of one's own is said of both."""
    chosen, said = fields["rival"], read_settings({key: fields[key] for key in SPOKEN})
    if chosen.startswith(VARIANT):
        kind = chosen.removeprefix(VARIANT)
        if kind not in variant_kinds():
            raise Wrong("rival", f"no version is called '{kind[:40]}'", "pick one of the list")
        return as_table(first) | said | {"variant": kind}
    if not chosen:
        raise Wrong("rival", "no second model is chosen", "pick one, or a compressed version of the first")
    other = as_table(
        _classifier({**fields, "classifier": chosen, **dict.fromkeys(SPOKEN, "")}, session, offers, "rival")
    )
    return other | (said if chosen.startswith(UPLOADED) and other.get("untrusted") else {})


def _classifier(
    fields: Mapping[str, str], session: Session, offers: Offers, place: str = "classifier"
) -> Mapping[str, Any] | str:
    chosen = fields["classifier"]
    if chosen == NAMED:
        return _named(fields["address"].strip())
    if chosen.startswith(UPLOADED):
        try:
            path = session.upload(chosen.removeprefix(UPLOADED)).path
        except FoibleError as error:
            raise Wrong(place, error.message, error.hint) from error
        if describes_itself(path):
            _must_be_silent(fields, path.name)
        return table_of(path)
    if chosen not in {c.name for c in offers.classifiers if c.domain == fields["domain"]}:
        what = f"'{chosen[:80]}' is not a classifier of '{fields['domain']}'"
        raise Wrong(place, what, "pick one of the list")
    _must_be_silent(fields, chosen)
    return chosen


def _must_be_silent(fields: Mapping[str, str], name: str) -> None:
    """A model that describes itself takes no word from others on how it wants its images."""
    for setting in SPOKEN:
        if fields[setting].strip():
            raise Wrong(setting, f"'{name}' describes itself: its {setting} cannot be set", "leave it empty")


def _named(address: str) -> str:
    """A hub name or an address; whatever could be a file of this machine is refused."""
    local = address.startswith("hf:") and Path(address.removeprefix("hf:")).exists()
    if local or not (HUB.fullmatch(address) or ADDRESS.fullmatch(address)):
        raise Wrong(
            "address",
            f"'{address[:80]}' is neither the name of a published model nor an address",
            "write timm:NAME, torchvision:NAME, hf:OWNER/NAME or https://...; upload a file instead of naming it",
        )
    return address
