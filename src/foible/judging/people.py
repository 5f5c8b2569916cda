"""From a run that people have answered about to a judge that was refitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from foible.domains import Domain, load_domain
from foible.errors import RecipeError
from foible.judging.refit import UNKNOWN, Answered, Line, Refit, doubt, fittable, refit
from foible.records import Key
from foible.store import Run
from foible.store.answers import Answers, read_answers
from foible.survey.recalibrate import FEWEST
from foible.validators.calibration import Calibration, FittedThreshold, FittedWeights
from foible.validators.evidence import Evidence, columns
from foible.validators.judge import Judge

NEXT = 10  # findings worth asking about


@dataclass(frozen=True)
class ToPeople:
    """A refitted judge, what it was fitted on, and the findings to ask about next."""

    refit: Refit
    calibration: Calibration
    answered: int
    ask: tuple[Key, ...]
    company: str


def refit_to_people(run: Run, domain: Domain | None = None) -> ToPeople:
    """Refit a run's judge to the answers in it."""
    lines, said = run.index(), read_answers(run.layout)
    asked = [line for line in lines if said.votes(line.key)]
    if not asked:
        raise RecipeError(
            "nobody has answered about this run's failures", "foible survey RUN, then foible survey import"
        )
    judge, evidence, labels = judged(run, domain)
    rows = torch.tensor([k for k, line in enumerate(lines) if said.votes(line.key)])
    answered = _answered(evidence[rows], labels[rows], [line.key for line in asked], said)
    if not fittable(answered.valid) and not fittable(answered.kept):
        raise RecipeError(
            f"too few answers to refit the judge: people call {_counts(answered.valid)} valid and not, and say of "
            f"{_counts(answered.kept)} that the label is kept and not; {FEWEST} of each are needed",
            "ask about more failures",
        )
    found = refit(judge.weighing, answered)
    left = torch.tensor([k for k, line in enumerate(lines) if not said.votes(line.key)], dtype=torch.long)
    ask: tuple[Key, ...] = ()
    if len(left):
        unsure = doubt(found.committee, found.line, evidence[left], labels[left])
        ask = tuple(lines[int(left[k])].key for k in unsure.argsort(descending=True, stable=True)[:NEXT])
    calibration = _calibration(found, answered, columns(judge.readers))
    return ToPeople(found, calibration, len(asked), ask, judge.company())


def judged(run: Run, domain: Domain | None) -> tuple[Judge, Evidence, torch.Tensor]:
    """A run's judge, its evidence on the findings, and their labels."""
    judge, lines = Judge(domain or load_domain(run.manifest.recipe["domain"])), run.index()
    if judge.parts.classes != run.classes:
        raise RecipeError("the run has other classes than the domain's judge", "name the domain that it was run with")
    if not lines:
        raise RecipeError("the run has no failures", "search longer, or name another run")
    images = torch.stack([run.image(run.finding(line.key).image) for line in lines])
    return judge, judge.evidence(images), torch.tensor([line.label for line in lines])


def _answered(evidence: Evidence, labels: torch.Tensor, keys: list[Key], said: Answers) -> Answered:
    def decided(value: bool | None) -> int:
        return UNKNOWN if value is None else int(value)

    valid = [decided(said.valid(key)) for key in keys]
    kept = [decided(said.kept(key, int(label))) for key, label in zip(keys, labels, strict=True)]
    named = []
    for key in keys:
        ranked = said.votes(key).most_common(2)
        tied = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
        named.append(UNKNOWN if tied or ranked[0][0] < 0 else ranked[0][0])
    return Answered(evidence, labels, torch.tensor(valid), torch.tensor(kept), torch.tensor(named))


def _counts(truth: torch.Tensor) -> str:
    return f"{int((truth == 1).sum())} and {int((truth == 0).sum())}"


def _calibration(found: Refit, answered: Answered, names: tuple[str, ...]) -> Calibration:
    """The file's content; a threshold is written for what people have decided about often enough."""
    errors = {a.about: a for a in found.agreement if a.how == found.how}
    thresholds = {
        about: FittedThreshold(
            threshold=round(min(1.0, max(0.0, value)), 6),
            n=errors[about].n,
            accepted=int((answered.truth(about) == 1).sum()),
            error=round(errors[about].error, 6),
        )
        for about, value in (("image", found.line.image), ("label", found.line.label))
        if about in errors
    }
    weighing = _weights(found.line, names) if found.how == "weights and thresholds" else None
    return Calibration(image=thresholds.get("image"), label=thresholds.get("label"), weighing=weighing)


def _weights(line: Line, names: tuple[str, ...]) -> FittedWeights:
    values = [round(w, 6) for w in line.weighing.weights.tolist()]
    trust = tuple(round(t, 6) for t in line.weighing.trust.tolist())
    return FittedWeights(weights=dict(zip(names, values, strict=True)), bias=float(line.weighing.bias), trust=trust)


def refit_lines(done: ToPeople, path: Path) -> list[str]:
    """What `foible judge --refit` prints."""
    lines = [done.company, f"people have answered about {done.answered} failures"]
    for a in done.refit.agreement:
        kappa = "-" if a.kappa is None else f"{a.kappa:.2f}"
        what = {"image": "valid", "label": "label kept"}[a.about]
        lines.append(f"{what:<12}{a.how:<24} kappa {kappa:>5}   balanced error {a.error:6.1%}   ({a.n} images)")
    lines.append(f"best by cross-validation: {done.refit.how}; written to {path}")
    lines.append(f'use it: foible judge FOLDER --calibration {path}, or calibration = "{path}" under validators')
    if done.ask:
        lines.append(f"an answer changes most for the failures {', '.join(map(str, done.ask))}")
    return lines
