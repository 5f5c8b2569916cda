"""`foible ambiguous`: images that lie between two classes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from foible.cli.options import ClassifierOption, Data, Generator, Quiet, Seed, Set, recipe_changes
from foible.cli.progress import run_progress
from foible.cli.terminal import tell
from foible.errors import RecipeError


def ambiguous(
    pair: Annotated[
        tuple[str, str] | None, typer.Option(help="Two classes [default: all pairs].", show_default=False)
    ] = None,
    domain: Annotated[str, typer.Option(help="A domain's name, TOML file or folder of images.")] = "mnist",
    count: Annotated[int, typer.Option(help="Images wanted of each pair.", min=1)] = 50,
    max_gap: Annotated[float, typer.Option(help="Largest difference of the two probabilities.")] = 0.05,
    effort: Annotated[int, typer.Option(help="Attempts for each image wanted.", min=1)] = 3,
    classifier: ClassifierOption = None,
    generator: Generator = None,
    data: Data = None,
    seed: Seed = None,
    set_: Set = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where run, images and table go.")] = Path("ambiguous"),
    quiet: Quiet = False,
) -> int:
    """Make valid, diverse images between two classes: PNG files and a table of them."""
    from foible.borders.ambiguous import all_pairs, between, class_pair, diverse, write_set
    from foible.campaign import assemble, load_recipe
    from foible.campaign import run as run_campaign
    from foible.domains import load_domain
    from foible.store import open_run

    if not 0 < max_gap <= 1:
        raise RecipeError(
            f"--max-gap {max_gap} is no difference of probabilities", "above 0 and at most 1, such as 0.05"
        )
    about = load_domain(domain)
    pairs = [class_pair(pair, about.classes)] if pair else all_pairs(about.classes)
    names = list(pair) if pair else list(about.classes)
    parts = {"generator": generator or about.generator, "classifier": classifier or about.classifier}
    for part, name in parts.items():
        if not name:
            raise RecipeError(f"domain '{domain}' has no {part} of its own", f"name one with --{part}")
    ordered = len(names) * (len(names) - 1)
    facts: dict[str, Any] = {"name": "ambiguous", "domain": domain, "search": "shrink", "oracle": "targeted", **parts}
    facts |= {"targets": names, "classes": names, "attempts": -(-count * effort // 2) * ordered, "steadiness": False}
    changes = recipe_changes(set_, seed=seed, data=data)
    recipe = load_recipe({**facts, "begins": "real", "baseline": {"attempts": 0}}, changes)
    tell(quiet)
    with run_progress(quiet) as listen:
        state = run_campaign(assemble(recipe), out / "run", listen)
    run = open_run(out / "run")
    chosen = [diverse(run, between(run, two, max_gap), count) for two in pairs]
    table = write_set(run, [f for some in chosen for f in some], out)
    short = [
        f"{about.classes[a]} and {about.classes[b]}: {len(c)}"
        for (a, b), c in zip(pairs, chosen, strict=True)
        if len(c) < count
    ]
    if not quiet:
        print(f"{table}: {sum(map(len, chosen))} images")
    if short:
        print(f"fewer than {count} of {'; '.join(short)}; a larger --effort or --max-gap gives more", file=sys.stderr)
    return 3 if short or state != "complete" else 0
