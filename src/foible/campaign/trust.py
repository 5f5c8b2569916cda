"""Before a run that came from elsewhere is replayed or resumed: does its recipe run code, or send things away?

A recipe may name Python files, ask for a model outside the sandbox, or name an address that gets images and headers. In
one's own runs that is nobody else's business. A run is known as one's own by its seal (store/seal.py).
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from typing import Any

from foible.campaign.assemble import Campaign
from foible.errors import ModelError, RecipeError
from foible.registry import names_a_file
from foible.store.layout import Layout
from foible.store.manifest import Manifest
from foible.store.seal import sealed

REFUSES_PROTECTION = {"untrusted": False, "insist": True, "private": True}


class NotTrusted(RecipeError):
    """A run that was not made here wants more than it may have unasked."""


def must_be_trusted(layout: Layout, recipe: Mapping[str, Any]) -> None:
    """Refuse what a recipe asks for, unless its run was made on this machine by this user."""
    wants = list(dict.fromkeys(wishes(recipe)))
    if wants and not sealed(layout.manifest):
        raise NotTrusted(
            f"'{layout.folder}' is not known to have been made here, and its recipe "
            + " and ".join(wants[:3])
            + (f" and {len(wants) - 3} more" if len(wants) > 3 else ""),
            "look at what it names; if you trust it: --trust (trust=True in Python)",
        )


def wishes(part: Any, key: str = "") -> Iterator[str]:
    """What a recipe, or any part of it, would do beyond reading data, each in words."""
    if isinstance(part, Mapping):
        for name, value in part.items():
            yield from wishes(value, str(name))
    elif isinstance(part, list | tuple):
        for value in part:
            yield from wishes(value, key)
    elif isinstance(part, str):
        if names_a_file(part):
            yield f"runs the Python file '{part[:120]}'"
        elif part.startswith(("http://", "https://")):
            yield f"sends images to '{part[:120]}'"
        elif key == "address":
            yield f"computes on the cluster at '{part[:120]}'"
        elif "${" in part:
            yield f"sends the value of an environment variable ('{part[:60]}')"
    elif isinstance(part, bool) and REFUSES_PROTECTION.get(key) is part:
        yield f"says {key} = {str(part).lower()}"


def must_be_the_same(campaign: Campaign, manifest: Manifest) -> None:
    """Refuse models that are not those a run was made with."""
    for file, digest in campaign.digests.items():
        stored = manifest.digests.get(file)
        if stored != digest:
            what = "was not part of the run" if stored is None else "has changed since the run"
            raise ModelError(
                f"'{file}' {what}: its digest is {digest[:12]}..., the manifest says {(stored or 'nothing')[:12]}",
                "put the old file back, or ask another classifier on purpose: --classifier NAME",
            )


def must_be_equal(what: str, mine: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Refuse to compute for a run where something is another than where it was begun."""
    for name in sorted({*mine, *wanted}):
        if mine.get(name) != wanted.get(name):
            here, there = (str(side.get(name, "missing"))[:12] for side in (mine, wanted))
            raise ModelError(
                f"{what} '{name}' is another for worker {platform.node()}: {here} there, {there} where the run began",
                "every machine of a cluster needs the same packages, and the same files under the same paths",
            )
