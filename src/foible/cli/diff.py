"""`foible diff`: on which realistic images do two models disagree?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foible.cli import diff_options as own
from foible.cli.model_options import about_models
from foible.cli.options import (
    Attempts,
    Data,
    DomainOption,
    FailIf,
    Out,
    Quiet,
    Seed,
    Set,
    ZooGenerator,
    recipe_changes,
)
from foible.cli.terminal import tell
from foible.cli.test import stem, zoo_generator
from foible.errors import RecipeError


@about_models
def diff(
    a: own.A,
    b: own.B = None,
    *,
    domain: DomainOption,
    variant: own.Variant = None,
    generator: ZooGenerator = None,
    data: Data = None,
    settings: dict[str, Any],
    also: own.Also = None,
    attempts: Attempts = None,
    seed: Seed = None,
    set_: Set = None,
    samples: own.Samples = 1000,
    filter_: own.Filter = None,
    published: own.Published = False,
    realism: own.Realism = False,
    selector: own.Selector = False,
    survey: own.Survey = 0,
    out: Out = None,
    save_corpus: own.SaveCorpus = None,
    corpus: own.CorpusFile = None,
    accept: own.Accept = False,
    parity: own.Parity = False,
    reuse: own.Reuse = False,
    unrelated: own.Unrelated = None,
    fail_if: FailIf = None,
    quiet: Quiet = False,
) -> int:
    """Find realistic images on which two models disagree, with real and random images beside them.

    Model options are said of all models that are your own; B's alone: --set classifiers.rival.KEY=VALUE.
    """
    from foible.cli.diff_questions import Extras, Question
    from foible.differing.command import Beside, two_models

    asked = Question(two_models(a, b, variant, settings, also or ()), domain, data, fail_if or [], quiet)
    tell(quiet)
    if corpus is not None:
        return asked.corpus(corpus, accept)
    if accept:
        raise RecipeError("--accept belongs to --corpus", "it records what differs on a stored corpus")
    if parity:
        return asked.parity()
    folder = out or Path("runs") / f"{'reuse' if reuse else 'diff'}-{stem(a)}-{stem(b) if b else variant}"
    changes = recipe_changes(set_, attempts=attempts, seed=seed, data=data)
    generator = generator or zoo_generator(domain)
    if reuse:
        return asked.reuse(unrelated or [], {"domain": domain, "generator": generator, **changes}, folder)
    beside = Beside(samples, tuple(filter_ or ()), published)
    return asked.difference(generator, changes, folder, beside, Extras(save_corpus, realism, selector, survey))
