"""The same again: the form filled in from the recipe of an earlier run, as far as a form can say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foible.campaign.spec import load_recipe
from foible.errors import RecipeError
from foible.types import RIVAL
from foible.ui.command import as_table
from foible.ui.form import fields_of
from foible.ui.offers import Offers
from foible.ui.questions import CHANGES

KEPT = ("attempts", "seed", "budget", "baseline", "search", "targets", "classes", "oracle")


def fields_again(recipe: Mapping[str, Any], offers: Offers, compared: bool) -> dict[str, str]:
    """Fields that stand for a recipe; models that are not on the lists are left to be chosen anew."""
    facts = {key: value for key, value in recipe.items() if value is not None}
    rival = as_table(facts.get("classifiers", {}).get(RIVAL, {})) if compared else {}
    models = {"classifier": offers.classifiers, "generator": offers.generators}
    own = {part for part, listed in models.items() if as_table(facts[part])["use"] not in {m.use for m in listed}}
    facts |= {part: {"use": models[part][0].use} for part in own if models[part]}
    if compared:
        facts["classifiers"] = {}
    fields = _fields(facts, offers)
    if offers.domain(fields["domain"]) is None:
        own |= {"domain", "generator", "classifier"}
    said = {key: value for key, value in fields.items() if key not in own}
    return said | (_rival(rival, offers) if compared else {})


def _fields(facts: dict[str, Any], offers: Offers) -> dict[str, str]:
    """Everything, or what matters most where a recipe says more than the form can."""
    try:
        return fields_of(load_recipe(facts), offers.menu)
    except RecipeError:
        least: dict[str, Any] = {
            key: facts[key] for key in ("name", "domain", "generator", "classifier") if key in facts
        }
        for key in KEPT:
            if key in facts:
                try:
                    fields_of(load_recipe(least | {key: facts[key]}), offers.menu)
                except RecipeError:
                    continue
                least[key] = facts[key]
        return fields_of(load_recipe(least), offers.menu)


def _rival(rival: Mapping[str, Any], offers: Offers) -> dict[str, str]:
    known = {c.name for c in offers.classifiers}
    chosen = f"variant:{rival['variant']}" if "variant" in rival else rival.get("use", "")
    return {"question": CHANGES.key, "rival": chosen if chosen in known or "variant" in rival else ""}
