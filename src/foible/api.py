"""The two calls most people need: check a campaign, run it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

from foible.campaign import Campaign, Checkup, Recipe, assemble, load_recipe
from foible.campaign import check as check_campaign
from foible.campaign import run as run_campaign
from foible.campaign.run import Listener
from foible.protocols import Classifier, Generator
from foible.store import Run, open_run

GeneratorLike = Generator | str | Mapping[str, Any]
RoleLike = Classifier | nn.Module | str | Mapping[str, Any]
RecipeLike = str | Path | Mapping[str, Any] | Recipe


def run(
    recipe: RecipeLike,
    out: str | Path | None = None,
    *,
    generator: GeneratorLike | None = None,
    classifier: RoleLike | None = None,
    classifiers: Mapping[str, RoleLike] | None = None,
    listen: Listener = lambda _: None,
    **changes: Any,
) -> Run:
    """Run a recipe into a folder, or go on where an earlier run stopped, and open the result.

    Args:
        recipe: a built-in name, the path of a TOML file, a mapping, or a Recipe.
        out: the run folder; `runs/<recipe name>` by default.
        generator: used instead of the recipe's generator: a live object, or what a recipe would say.
        classifier: used instead of the recipe's, likewise; a bare torch module must give logits in the domain's class order.
        classifiers: other roles by name, such as rival or surrogate: live objects, or what a recipe would say.
        listen: called with the progress after every round.
        changes: values that take the place of the recipe's: `attempts=50, **{"search.extent": "low"}`.
    """
    campaign = _campaign(recipe, generator, classifier, classifiers, changes)
    folder = Path(out) if out is not None else Path("runs") / campaign.recipe.name
    run_campaign(campaign, folder, listen)
    return open_run(folder)


def check(
    recipe: RecipeLike,
    *,
    generator: GeneratorLike | None = None,
    classifier: RoleLike | None = None,
    classifiers: Mapping[str, RoleLike] | None = None,
    **changes: Any,
) -> Checkup:
    """Everything that can be known to be wrong before a run, with hints; takes the same arguments as `run`."""
    return check_campaign(_campaign(recipe, generator, classifier, classifiers, changes))


def _campaign(
    recipe: RecipeLike,
    generator: GeneratorLike | None,
    classifier: RoleLike | None,
    classifiers: Mapping[str, RoleLike] | None,
    changes: Mapping[str, Any],
) -> Campaign:
    written: dict[str, Any] = {}
    if isinstance(generator, str | Mapping):
        written["generator"], generator = generator, None
    if isinstance(classifier, str | Mapping):
        written["classifier"], classifier = classifier, None
    live = {}
    for name, one in (classifiers or {}).items():
        if isinstance(one, str | Mapping):
            written[f"classifiers.{name}"] = one
        else:
            live[name] = one
    return assemble(load_recipe(recipe, {**changes, **written}), generator, classifier, live)
