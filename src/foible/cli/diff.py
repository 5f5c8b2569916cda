"""`foible diff`: on which realistic images do two models disagree?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from foible.cli.model_options import (
    Channels,
    Classes,
    Colours,
    Factory,
    Insist,
    Layout,
    Mean,
    Output,
    Pickles,
    Private,
    Range,
    Size,
    Std,
    Untrusted,
    model_settings,
)
from foible.cli.options import Attempts, Data, FailIf, Out, Quiet, Seed, Set, recipe_changes
from foible.cli.progress import run_progress
from foible.cli.terminal import tell
from foible.cli.test import stem, zoo_generator


def diff(
    a: Annotated[
        str, typer.Argument(help="The model as it was: zoo name, model file, hub name ...", show_default=False)
    ],
    b: Annotated[
        str | None, typer.Argument(help="The model it is compared with; or use --variant.", show_default=False)
    ] = None,
    *,
    domain: Annotated[str, typer.Option(help="What they are for: a domain's name, TOML file or folder of images.")],
    variant: Annotated[
        str | None,
        typer.Option(help="B is a compressed A: int8-weights, int8, float16, bfloat16, pruned ...", show_default=False),
    ] = None,
    generator: Annotated[
        str | None, typer.Option(help="Where images come from [default: the zoo's for the domain].", show_default=False)
    ] = None,
    data: Data = None,
    mean: Mean = None,
    std: Std = None,
    range_: Range = None,
    size: Size = None,
    channels: Channels = None,
    colours: Colours = None,
    layout: Layout = None,
    output: Output = None,
    classes: Classes = None,
    factory: Factory = None,
    private: Private = False,
    untrusted: Untrusted = None,
    insist: Insist = False,
    pickles: Pickles = False,
    attempts: Attempts = None,
    seed: Seed = None,
    set_: Set = None,
    samples: Annotated[int, typer.Option(help="Random images to count disagreements on.", min=0)] = 1000,
    out: Out = None,
    save_corpus: Annotated[
        Path | None, typer.Option(help="Write the disagreements found as a corpus file.", show_default=False)
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Search nothing: ask both models about a corpus again.", show_default=False)
    ] = None,
    fail_if: FailIf = None,
    quiet: Quiet = False,
) -> int:
    """Find realistic images on which two models disagree, with real and random images beside them.

    Model options are said of both where they are your own; B's alone: --set classifiers.rival.KEY=VALUE.
    """
    from foible.differing import command

    settings = model_settings(
        mean=mean,
        std=std,
        range=range_,
        size=size,
        channels=channels,
        colours=colours,
        layout=layout,
        output=output,
        classes=classes,
        factory=factory,
        private=private,
        untrusted=untrusted,
        insist=insist,
        pickles=pickles,
    )
    models = command.two_models(a, b, variant, settings)
    tell(quiet)
    if corpus is not None:
        return _replay(models, domain, data, corpus, fail_if, quiet)
    changes = recipe_changes(set_, attempts=attempts, seed=seed, data=data)
    recipe = command.diff_recipe(models, domain, generator or zoo_generator(domain), changes)
    folder = out or Path("runs") / f"diff-{stem(a)}-{stem(b) if b else variant}"
    _gate(fail_if, dict.fromkeys(command.FIGURES), quiet=True)  # a typo in a gate should not cost a run
    with run_progress(quiet) as listen:
        seen = command.difference(recipe, folder, samples, listen)
    if save_corpus is not None:
        seen.corpus.save(save_corpus)
    if not quiet:
        _show(seen, folder, save_corpus)
    passed = _gate(fail_if, seen.figures, quiet)
    return 3 if seen.state != "complete" else 0 if passed else 1


def _show(seen: Any, folder: Path, saved: Path | None) -> None:
    from foible.differing.text import difference_text
    from foible.report import summarise, write_page

    page = write_page(seen.run, None, summarise(seen.run))
    print(difference_text(seen))
    print(f"run: {folder}, page: {page}")
    if saved is not None:
        print(f"corpus of {len(seen.corpus)} images: {saved}")


def _replay(models: Any, domain: str, data: str | None, corpus: Path, fail_if: list[str] | None, quiet: bool) -> int:
    from foible.differing import command
    from foible.differing.text import replay_text

    stored, now, figures = command.replayed(models, domain, data, corpus)
    if not quiet:
        print(replay_text(stored, now, figures))
    return 0 if _gate(fail_if, figures, quiet) else 1


def _gate(fail_if: list[str] | None, figures: Any, quiet: bool) -> bool:
    from foible.report import check_gate

    gate = check_gate(fail_if or [], figures)
    if fail_if and any(value is not None for value in figures.values()) and not (quiet and gate.passed):
        print(gate.text, file=sys.stderr if quiet else sys.stdout)
    return gate.passed
