"""Make a survey: choose findings and attention checks, write the key into the run and the page for people."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from foible.domains import RealImages, load_domain, real_images
from foible.errors import FoibleError, RecipeError
from foible.report.gallery import picture_uri, pixels
from foible.store import Run
from foible.store.layout import disk_errors
from foible.store.manifest import now
from foible.survey.choices import choices
from foible.survey.key import Key, Question, save_key
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
    """
    rng = np.random.default_rng(seed)
    chosen = select(run.index(), images, order, rng)
    if not chosen:
        raise RecipeError(f"'{run.layout.folder}' has no findings to show", "wait for the run, or search longer")
    checks = math.ceil(len(chosen) * CHECKS_PER_IMAGE) if checks is None else checks
    real = _real_images(run, data) if checks else None
    picks = rng.permutation(len(real.labels))[:checks].tolist() if real is not None else []
    findings, controls = iter(chosen), iter(picks)
    questions: list[Question] = []
    pictures: list[Images] = []
    for is_check in spread_checks(len(chosen), len(picks), rng):
        if is_check and real is not None:
            index = next(controls)
            questions.append(Question(expected=int(real.labels[index]), source=f"{real.source} #{index}"))
            pictures.append(real.images(torch.tensor([index]))[0])
        else:
            finding = run.finding(next(findings).attempt)
            questions.append(Question(attempt=finding.attempt))
            pictures.append(run.image(finding.image))
    key = _key(run, questions, order, seed)
    save_key(run.layout, key)
    _write(out, _page(run, key, pictures))
    return Survey(key.survey, out, len(chosen), len(picks))


def _key(run: Run, questions: list[Question], order: Order, seed: int) -> Key:
    """The questions under names that follow from all of them together, and say nothing by themselves."""
    made_of = [run.manifest.created, run.name, str(seed), *(q.model_dump_json() for q in questions)]
    survey = _digest("\n".join(made_of))
    names = [_digest(f"{survey} {k}") for k in range(len(questions))]
    return Key(
        survey=survey,
        created=now(),
        seed=seed,
        order=order,
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


def _page(run: Run, key: Key, pictures: list[Images]) -> str:
    from foible.report.page import environment

    content: dict[str, Any] = {
        "survey": key.survey,
        "items": [
            {"item": item, "picture": picture_uri(pixels(p))} for item, p in zip(key.questions, pictures, strict=True)
        ],
        "choices": [vars(c) for c in choices(run.classes)],
    }
    template = environment(Path(__file__).parent).get_template("survey.html.jinja")
    return template.render(content=content, shape=run.manifest.shape)


def _write(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".part")
    with disk_errors(path):
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
