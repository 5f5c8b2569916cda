"""`foible diff`: on which realistic images do two models disagree?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from foible.cli.model_options import about_models
from foible.cli.options import Attempts, Data, FailIf, Out, Quiet, Seed, Set, recipe_changes
from foible.cli.progress import run_progress
from foible.cli.terminal import tell
from foible.cli.test import stem, zoo_generator
from foible.errors import RecipeError


@about_models
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
    settings: dict[str, Any],
    also: Annotated[
        list[str] | None, typer.Option(help="One more model to compare with. Repeatable.", show_default=False)
    ] = None,
    attempts: Attempts = None,
    seed: Seed = None,
    set_: Set = None,
    samples: Annotated[int, typer.Option(help="Random images to count disagreements on.", min=0)] = 1000,
    filter_: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            help="Count what a validator lets through: discriminator, ssim, judge ... Repeatable.",
            show_default=False,
        ),
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Diversity as DiffGAN's tables have it, too. It misleads: see the docs.")
    ] = False,
    realism: Annotated[
        bool, typer.Option("--realism", help="FID and KID of the disagreements against real images.")
    ] = False,
    selector: Annotated[
        bool, typer.Option("--selector", help="Fit and measure a run-time selector: whom to believe when.")
    ] = False,
    survey: Annotated[
        int, typer.Option(help="Make a survey page of so many disagreements where people's answers pay most.", min=0)
    ] = 0,
    out: Out = None,
    save_corpus: Annotated[
        Path | None, typer.Option(help="Write the disagreements found as a corpus file.", show_default=False)
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Search nothing: ask both models about a corpus again.", show_default=False)
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="With --corpus: record today's differences as accepted.")
    ] = False,
    parity: Annotated[
        bool, typer.Option("--parity", help="Search nothing: map how far scores drift, by model and batch size.")
    ] = False,
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Is B derived from A? Whether it makes A's own mistakes.")
    ] = False,
    unrelated: Annotated[
        list[str] | None,
        typer.Option(
            help="With --reuse: a model trained apart from A. Repeatable [default: the zoo's others].",
            show_default=False,
        ),
    ] = None,
    fail_if: FailIf = None,
    quiet: Quiet = False,
) -> int:
    """Find realistic images on which two models disagree, with real and random images beside them.

    Model options are said of all models that are your own; B's alone: --set classifiers.rival.KEY=VALUE.
    """
    from foible.differing import command

    models = command.two_models(a, b, variant, settings, also or ())
    tell(quiet)
    if corpus is not None:
        return _replay(models, domain, data, corpus, accept, fail_if, quiet)
    if accept:
        raise RecipeError("--accept belongs to --corpus", "it records what differs on a stored corpus")
    if parity:
        return _parity(models, domain, data, fail_if, quiet)
    folder = out or Path("runs") / f"{'reuse' if reuse else 'diff'}-{stem(a)}-{stem(b) if b else variant}"
    changes = recipe_changes(set_, attempts=attempts, seed=seed, data=data)
    generator = generator or zoo_generator(domain)
    if reuse:
        facts = {"domain": domain, "generator": generator, **changes}
        return _reuse(models, unrelated or [], facts, folder, fail_if, quiet)
    recipe = command.diff_recipe(models, domain, generator, changes)
    _gate(fail_if, dict.fromkeys(command.FIGURES), quiet=True)  # a typo in a gate should not cost a run
    with run_progress(quiet) as listen:
        seen = command.difference(recipe, folder, command.Beside(samples, tuple(filter_ or ()), published), listen)
    if save_corpus is not None:
        seen.corpus.save(save_corpus)
    if not quiet:
        _show(seen, folder, save_corpus)
    if realism:
        _realism(seen, domain, data)
    if selector:
        _selector(seen, domain, quiet)
    if survey:
        _survey(seen, survey, folder, data, quiet)
    passed = _gate(fail_if, seen.figures, quiet)
    return 3 if seen.state != "complete" else 0 if passed else 1


def _show(seen: Any, folder: Path, saved: Path | None) -> None:
    from foible.differing.page import write_difference_page
    from foible.differing.stored import save_facts
    from foible.differing.text import difference_text
    from foible.report import summarise, write_page

    write_page(seen.run, None, summarise(seen.run))
    save_facts(seen)
    page = write_difference_page(seen.run)
    print(difference_text(seen))
    print(f"run: {folder}, page: {page}")
    if saved is not None:
        print(f"corpus of {len(seen.corpus)} images: {saved}")


def _realism(seen: Any, domain: str, data: str | None) -> None:
    from foible.differing.measured_text import realism_lines
    from foible.differing.questions import realism_of

    print(*realism_lines(realism_of(seen, domain, data)), sep="\n")


def _selector(seen: Any, domain: str, quiet: bool) -> None:
    from foible.differing.measured_text import selector_lines
    from foible.differing.questions import selector_of

    made = selector_of(seen, domain)
    if not quiet:
        print("", *selector_lines(made), sep="\n")


def _survey(seen: Any, count: int, folder: Path, data: str | None, quiet: bool) -> None:
    from foible.differing.questions import survey_of

    made = survey_of(seen, count, folder / "survey.html", data)
    if not quiet:
        print(f"{made.page}: {made.images} disagreements whose truth is unknown, where it pays most to know it")
        print(f"send it to people, then: foible survey import {folder} answers.csv, and the same command again")


def _parity(models: Any, domain: str, data: str | None, fail_if: list[str] | None, quiet: bool) -> int:
    from foible.differing.measured_text import parity_lines
    from foible.differing.questions import parity_of

    drift, classes = parity_of(models, domain, data)
    if not quiet:
        print(*parity_lines(drift, classes), sep="\n")
    return 0 if _gate(fail_if, drift.figures, quiet) else 1


def _reuse(
    models: Any, unrelated: list[str], facts: dict[str, Any], folder: Path, fail_if: list[str] | None, quiet: bool
) -> int:
    from foible.differing.measured_text import reuse_lines
    from foible.differing.questions import reuse_of

    with run_progress(quiet) as listen:
        seen = reuse_of(models, unrelated, facts, folder, listen)
    if not quiet:
        print(*reuse_lines(seen), sep="\n")
    return 0 if _gate(fail_if, seen.figures, quiet) else 1


def _replay(
    models: Any, domain: str, data: str | None, corpus: Path, accept: bool, fail_if: list[str] | None, quiet: bool
) -> int:
    from foible.differing import command
    from foible.differing.corpus import accepting, replay_figures
    from foible.differing.text import replay_text

    stored, now, figures = command.replayed(models, domain, data, corpus)
    if accept:
        stored = accepting(stored, now)
        stored.save(corpus)
        figures = replay_figures(stored, now)
    if not quiet:
        print(replay_text(stored, now, figures))
    return 0 if _gate(fail_if, figures, quiet) else 1


def _gate(fail_if: list[str] | None, figures: Any, quiet: bool) -> bool:
    from foible.report import check_gate

    gate = check_gate(fail_if or [], figures)
    if fail_if and any(value is not None for value in figures.values()) and not (quiet and gate.passed):
        print(gate.text, file=sys.stderr if quiet else sys.stdout)
    return gate.passed
