"""What can be chosen in the form: what comes with foible, and what was named when the workbench was opened."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from foible.campaign.built_in import recipe_names
from foible.campaign.spec import load_recipe
from foible.domains import Domain, domain_names, load_domain
from foible.domains.fetch import how_to_get
from foible.domains.sources import where_images_are
from foible.errors import FoibleError, RecipeError, did_you_mean
from foible.report.wording import percent
from foible.ui.form import fields_of
from foible.ui.menu import Menu, make_menu
from foible.validators.fitted import judge_is_there
from foible.zoo import Entry, entries
from foible.zoo.files import read_model_file

LOOKS = {"vae": "close to real images, a little soft", "gan": "sharp", "diffusion": "sharp and varied"}
QUICK = 5.0  # milliseconds for an image


@dataclass(frozen=True)
class DomainChoice:
    """A domain on the list: the name it goes by on the page, and what a recipe says for it."""

    name: str
    use: str
    domain: Domain


@dataclass(frozen=True)
class ModelChoice:
    """A model on the list, the name of the domain it is for, what there is to say about it, and its figures.

    `obstacle` says why it cannot be chosen today.
    """

    name: str
    use: str
    domain: str
    words: str
    note: str
    obstacle: str = ""


@dataclass(frozen=True)
class Offers:
    """Everything on the lists. A browser names what is on them and can name nothing else."""

    domains: tuple[DomainChoice, ...]
    generators: tuple[ModelChoice, ...]
    classifiers: tuple[ModelChoice, ...]
    menu: Menu

    def domain(self, name: str) -> DomainChoice | None:
        """The domain of this name."""
        return next((d for d in self.domains if d.name == name), None)

    def generator(self, name: str) -> ModelChoice | None:
        """The generator of this name."""
        return next((g for g in self.generators if g.name == name), None)

    @property
    def recipe_groups(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The same by the study that they belong to, for a list to pick from."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, title in self.recipes.items():
            groups.setdefault(name.partition("-")[0] if "-" in name else "foible", []).append((name, title))
        return sorted(groups.items(), key=lambda group: group[0] != "foible")

    @cached_property
    def recipes(self) -> Mapping[str, str]:
        """The built-in recipes that the form can show, with their titles: all that they say is on the lists."""
        found = {}
        for name in recipe_names():
            recipe = load_recipe(name)
            with contextlib.suppress(FoibleError):
                fields = fields_of(recipe, self.menu)
                for part, listed in (("generator", self.generators), ("classifier", self.classifiers)):
                    if fields[part] not in {c.use for c in listed if c.domain == recipe.domain}:
                        raise RecipeError(f"{part} '{fields[part]}' is not on the list")
                found[name] = recipe.title or name
        return found


def make_offers(
    generators: Sequence[Path] = (), domains: Sequence[str] = (), parts: Mapping[str, Sequence[str]] | None = None
) -> Offers:
    """The lists of this installation, with model files, domains and components of the user's own on top.

    A domain without a generator cannot be searched and is left out; one that was named without a generator is refused.
    """
    about = {name: DomainChoice(name, name, load_domain(name)) for name in domain_names()}
    own = [_own_domain(name) for name in domains]
    about = {d.name: d for d in own} | {n: d for n, d in about.items() if n not in {d.name for d in own}}
    makers = [_own_generator(path, list(about)) for path in generators]
    known = [e for e in entries().values() if e.domain in about]
    makers += [_zoo_generator(e, about[e.domain].domain) for e in known if e.role == "generators"]
    for name in {m.name for m in makers if [n.name for n in makers].count(m.name) > 1}:
        raise RecipeError(f"two generators are called '{name}'", "rename one of the files")
    fitting = {m.domain for m in makers}
    for domain in own:
        if domain.name not in fitting:
            raise RecipeError(
                f"no generator is for the domain '{domain.name}'",
                f"train one with `foible train vae --domain {domain.use}` and name it with --generator",
            )
    return Offers(
        tuple(d for name, d in about.items() if name in fitting),
        tuple(makers),
        tuple(_zoo_classifiers(known, about)),
        make_menu(parts),
    )


def _own_domain(name: str) -> DomainChoice:
    domain = load_domain(name)
    path = Path(name)
    own = path.exists() and name not in domain_names()
    return DomainChoice(domain.name, str(path.resolve()) if own else name, domain)


def _own_generator(path: Path, domains: Sequence[str]) -> ModelChoice:
    header, _ = read_model_file(path)
    if header.role != "generators":
        raise RecipeError(f"'{path}' is one of the {header.role}, not a generator", "name a generator's file")
    if header.domain not in domains:
        raise RecipeError(
            f"'{path}' is for the domain '{header.domain}', which is not known here",
            f"name it too with --domain; {did_you_mean(header.domain, domains)}",
        )
    words = f"{header.family}, your own file"
    return ModelChoice(path.stem, str(path.resolve()), header.domain, words, words)


def caption(family: str, figures: Mapping[str, float]) -> str:
    """A generator in words: "sharp, quick; 98 % of its images are recognised"."""
    looks = LOOKS.get(family, family)
    milliseconds, known = figures.get("decode_ms"), figures.get("recognised")
    speed = "" if milliseconds is None else "quick" if milliseconds < QUICK else "slow"
    shares = "" if known is None else f"; {100 * known:.0f} % of its images are recognised"
    return ", ".join(part for part in (looks, speed) if part) + shares


def _zoo_generator(entry: Entry, domain: Domain) -> ModelChoice:
    figures = "".join(f", {key.replace('_', ' ')} {value:.3g}" for key, value in entry.figures.items())
    note = f"{entry.family}, {entry.parameters / 1e6:.1f} million parameters{figures}"
    missing = entry.family == "vae" and where_images_are(domain).startswith("none")
    return ModelChoice(
        entry.name,
        entry.name,
        entry.domain,
        caption(entry.family, entry.figures),
        note,
        f"starts from real images, which are not here: {how_to_get(domain)}" if missing else "",
    )


def _zoo_classifiers(known: Sequence[Entry], about: dict[str, DomainChoice]) -> list[ModelChoice]:
    """The domain's usual system under test first, its judges last."""

    def place(entry: Entry) -> int:
        domain = about[entry.domain].domain
        return 0 if entry.name == domain.classifier else 2 if entry.name in domain.references else 1

    def judges(entry: Entry) -> bool:
        return place(entry) == 2 and judge_is_there(about[entry.domain].domain)

    return [
        ModelChoice(
            entry.name,
            entry.name,
            entry.domain,
            f"right on {percent(entry.figures['test_accuracy'])}" if "test_accuracy" in entry.figures else entry.family,
            ("a judge of validity" if place(entry) == 2 else "comes with foible")
            + "".join(
                f", {key.replace('_', ' ')} {percent(value) if 0 <= value <= 1 else f'{value:.3g}'}"
                for key, value in entry.figures.items()
            ),
            "belongs to the judge, which may not be tested by itself" if judges(entry) else "",
        )
        for entry in sorted((e for e in known if e.role == "classifiers"), key=place)
    ]
