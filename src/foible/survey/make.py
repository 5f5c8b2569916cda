"""Make a survey: choose findings and attention checks, write the key into the run and the page for people."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from foible.domains import RealImages, load_domain, real_images
from foible.errors import FoibleError, RecipeError, StoreError
from foible.files import write_whole
from foible.images import as_pixels
from foible.records import Finding, Key
from foible.report.gallery import picture_uri
from foible.store import Run
from foible.store.manifest import now
from foible.store.pictures import decoded
from foible.store.pictures import pictures as failure_and_origin
from foible.survey.answer_file import SAID, columns
from foible.survey.choices import choices, scale
from foible.survey.key import Asks, Question, SurveyKey, save_key
from foible.survey.select import CHECKS_PER_IMAGE, Order, select, spread_checks
from foible.types import Images


@dataclass(frozen=True)
class Survey:
    """A survey that was written: where its page is, and how many findings and checks it shows."""

    name: str
    page: Path
    images: int
    checks: int


def make_survey(
    run: Run,
    out: Path,
    images: int = 100,
    checks: int | None = None,
    order: Order = "unsure",
    seed: int = 0,
    data: str | None = None,
    ratings: bool = False,
    controls: bool = False,
    only: Collection[Key] | None = None,
) -> Survey:
    """Write a survey page and its key. The same run, verdicts and settings give the same survey.

    Args:
        run: whose findings to show.
        out: the page.
        images: how many findings at most.
        checks: how many real images to mix in; by default one question in ten.
        order: "unsure" or "shuffled", see `foible.survey.select`.
        seed: of the choice and the order.
        data: real images, when they are not where the recipe says.
        ratings: ask how much an image looks like the class it came from and like the class it is taken for, instead of
            which class it is. Findings where the two are the same are not shown.
        controls: with ratings, show the origin of every finding too, as the generator makes it: whether people hesitate
            because an image is blurred, or because it was moved to the border.
        only: the findings to choose from; all by default.
    """
    if controls and not ratings:
        raise RecipeError("controls are rated like failures, and this survey asks for no ratings", "add --ratings")
    rng = np.random.default_rng(seed)
    offered = [f for f in run.index() if only is None or f.key in only]
    chosen = select([f for f in offered if not ratings or f.label != f.predicted], images, order, rng)
    if not chosen:
        raise RecipeError(f"'{run.layout.folder}' has no failures to show", "wait for the run, or search longer")
    shown = [(line, False) for line in chosen]
    if controls:
        both = [(line, control) for line in chosen for control in (False, True)]
        shown = [both[k] for k in rng.permutation(len(both))]
    checks = math.ceil(len(shown) * CHECKS_PER_IMAGE) if checks is None else checks
    real = _real_images(run, data) if checks else None
    picks = rng.permutation(len(real.labels))[:checks].tolist() if real is not None else []
    findings, checked = iter(shown), iter(picks)
    questions: list[Question] = []
    pictures: list[Images] = []
    other: int | None
    for is_check in spread_checks(len(shown), len(picks), rng):
        if is_check and real is not None:
            index = next(checked)
            label, other = int(real.labels[index]), None
            question = Question(expected=label, source=f"{real.source} #{index}")
            pictures.append(real.images(torch.tensor([index]))[0])
        else:
            line, control = next(findings)
            finding = run.finding(line.key)
            label, other = finding.label, finding.predicted
            question = Question(attempt=finding.attempt, number=finding.number, control=control)
            pictures.append(_picture(run, finding, control))
        questions.append(_about_two(question, label, other, len(run.classes), rng) if ratings else question)
    key = _key(run, questions, order, seed, "ratings" if ratings else "class")
    save_key(run.layout, key)
    write_whole(out, _page(run, key, pictures))
    return Survey(key.survey, out, len(chosen), len(picks))


def _picture(run: Run, finding: Finding, origin: bool = False) -> Images:
    """A finding's image or that of its origin, when it is the one that was stored."""
    stored = failure_and_origin(run, finding)
    content = stored.origin if origin else stored.failure
    if content is None:
        raise StoreError(
            f"failure {finding.key}: {stored.damage[0]}",
            f"drop what is damaged with: foible resume {run.layout.folder} --repair",
        )
    return decoded(run, content)


def _about_two(question: Question, label: int, other: int | None, classes: int, rng: np.random.Generator) -> Question:
    """The same image with the two classes it is rated for, in random order; without an `other`, any will do."""
    if other is None:
        other = (label + int(rng.integers(1, classes))) % classes
    return question.model_copy(update={"rated": (label, other), "swapped": bool(rng.integers(2))})


def _key(run: Run, questions: list[Question], order: Order, seed: int, asks: Asks) -> SurveyKey:
    """The questions under names that follow from all of them together, and say nothing by themselves."""
    made_of = [run.manifest.created, run.name, str(seed), *(q.model_dump_json() for q in questions)]
    survey = _digest("\n".join(made_of))
    names = [_digest(f"{survey} {k}") for k in range(len(questions))]
    return SurveyKey(
        survey=survey,
        created=now(),
        seed=seed,
        order=order,
        asks=asks,
        classes=run.classes,
        questions=dict(zip(names, questions, strict=True)),
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _real_images(run: Run, data: str | None) -> RealImages:
    try:
        return real_images(load_domain(run.manifest.recipe["domain"]), data or run.manifest.recipe["data"])
    except FoibleError as error:
        raise RecipeError(
            f"attention checks need real images: {error.message}", "name some with --data, or say --checks 0"
        ) from error


def _page(run: Run, key: SurveyKey, pictures: list[Images]) -> str:
    from foible.report.page import environment

    content: dict[str, Any] = {
        "survey": key.survey,
        "columns": columns(key.asks),
        "said": SAID[key.asks],
        "items": [
            {"item": item, "picture": picture_uri(as_pixels(picture)), "classes": _named(run, question)}
            for (item, question), picture in zip(key.questions.items(), pictures, strict=True)
        ],
        "choices": [vars(c) for c in (choices(run.classes) if key.asks == "class" else scale())],
    }
    template = environment(Path(__file__).parent).get_template("survey.html.jinja")
    return template.render(content=content, asks=key.asks, shape=run.manifest.shape)


def _named(run: Run, question: Question) -> list[str]:
    """The names of the classes that an image is rated for, in the order of the page."""
    return [] if question.rated is None else [run.classes[k] for k in question.turn(question.rated)]
