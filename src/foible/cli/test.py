"""`foible test`: bring your own classifier; look at it, then search for its failures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from foible.cli.model_options import about_models
from foible.cli.options import (
    Attempts,
    Data,
    DomainOption,
    FailIf,
    Origins,
    Out,
    Quiet,
    Seed,
    Set,
    ZooGenerator,
    recipe_changes,
)
from foible.cli.run import run_recipe
from foible.cli.terminal import tell
from foible.errors import RecipeError


@about_models
def test(
    model: Annotated[
        str,
        typer.Argument(
            help="Your classifier: .pt, .pt2, .onnx or weights file, timm:NAME, torchvision:NAME, hf:NAME, file.py:predict or URL.",
            show_default=False,
        ),
    ],
    *,
    domain: DomainOption,
    generator: ZooGenerator = None,
    data: Data = None,
    settings: dict[str, Any],
    attempts: Attempts = None,
    seed: Seed = None,
    origins: Origins = None,
    set_: Set = None,
    out: Out = None,
    look: Annotated[bool, typer.Option("--look", help="Only load and probe it; search nothing.")] = False,
    json: Annotated[bool, typer.Option("--json", help="With --look: what was seen, for other programs.")] = False,
    fail_if: FailIf = None,
    quiet: Quiet = False,
) -> int:
    """Test your own classifier: find out how it wants its images, probe it, then search for its failures."""
    from foible.campaign import load_recipe

    tell(quiet)
    if look:
        return _look(model, domain, data, settings, json, quiet)
    if json:
        raise RecipeError("--json belongs to --look", "a run's figures: foible report RUN --json FILE")
    facts = {
        "domain": domain,
        "generator": generator or zoo_generator(domain),
        "classifier": {"use": model, **settings},
    }
    recipe = load_recipe(
        {"name": f"test-{stem(model)}", **facts},
        recipe_changes(set_, attempts=attempts, seed=seed, data=data, origins=origins),
    )
    return run_recipe(recipe, out, fail_if, quiet, announce=lambda campaign: _say(campaign.classifier))


def _look(model: str, domain: str, data: str | None, settings: dict[str, Any], json: bool, quiet: bool) -> int:
    """Load and probe; gives 2 when something is wrong."""
    from dataclasses import asdict
    from json import dumps

    from foible.classifiers.adapting.probe import probe
    from foible.classifiers.load import probe_images
    from foible.domains import load_domain, real_images
    from foible.zoo import resolve

    about = load_domain(domain)
    real = real_images(about, data)
    classifier = resolve("classifiers", model, settings, about, real).model
    lines = probe(classifier, *probe_images(real), about.classes)
    fine = not any(line.level == "wrong" for line in lines)
    if json:
        facts = {"classifier": classifier.name, "fine": fine, "notes": list(getattr(classifier, "notes", ()))}
        print(dumps(facts | {"lines": [asdict(line) for line in lines]}, indent=1))
        return 0 if fine else 2
    if not quiet:
        _say(classifier)
    for line in lines:
        if not quiet or line.level == "wrong":
            hint = f"\n         hint: {line.hint}" if line.hint else ""
            print(f"{line.level:<8} {line.about:<11} {line.message}{hint}")
    return 0 if fine else 2


def _say(classifier: Any) -> None:
    print(f"classifier '{classifier.name}'")
    for note in getattr(classifier, "notes", ()):
        print(f"  {note}")


def zoo_generator(domain: str) -> str:
    """The zoo's generator of a domain."""
    from foible.domains import load_domain
    from foible.zoo import entries

    load_domain(domain)  # a name that is misspelt is said to be one
    fitting = [n for n, e in entries().items() if e.role == "generators" and e.domain == domain]
    if not fitting:
        raise RecipeError(
            f"the zoo has no generator for '{domain}'",
            f"name one with --generator, train one with `foible train vae --domain {domain}`, or only --look",
        )
    return fitting[0]


def stem(model: str) -> str:
    """What a run of this model is called."""
    return Path(model.replace(":", "-").rstrip("/")).stem or "model"
