"""The report on people as lines of text."""

from __future__ import annotations

from pathlib import Path

from foible.metrics import Estimate, Rate
from foible.report.wording import UNKNOWN, interval, of, percent, plural
from foible.survey.person import Person
from foible.survey.ratings import RatingsReport
from foible.survey.recalibrate import Recalibrated
from foible.survey.report import AgreementReport, PeopleReport
from foible.survey.rescore import ValidatorScore

ABOUT = {"class": "which class", "image": "valid or not", "label": "expected class or not"}
RATED = {"source": "expected", "target": "predicted"}
NOT_FAIR = (
    "note: people were shown the closest calls of the judge, which are no random sample: this does not hold for "
    "all failures (foible survey RUN --order shuffled makes a fair one)"
)


def report_lines(said: PeopleReport) -> list[str]:
    """The whole report, top to bottom: answers, then ratings, as far as there are any."""
    answers = _answers(said) if said.people else []
    ratings = _ratings(said.ratings) if said.ratings is not None else []
    return [*answers, *([""] if answers and ratings else []), *ratings]


def _answers(said: PeopleReport) -> list[str]:
    lines = [
        f"{plural(len(said.people), 'person', 'people')}, {plural(said.answers, 'answer')} on {said.asked:,} of "
        f"{plural(said.findings, 'failure')}",
        *(_person(p) for p in said.people),
        "",
        f"valid (most see a class)         {_rate(said.valid)}, {said.valid_undecided} undecided",
        f"label kept (the expected class)  {_rate(said.kept)}, {said.kept_undecided} undecided",
        f"of single answers                valid {_share(said.valid_answers)}, label kept {_share(said.kept_answers)}",
    ]
    if not said.fair:
        lines.append(NOT_FAIR)
    lines += ["", "agreement beyond chance (1 full, 0 chance), 95 % bootstrap interval over images"]
    lines += [line for part in said.agreement for line in _agreement(part)]
    lines += ["", "validators beside the majority of people"]
    lines += [_validator(v) for v in said.validators] or ["  no failure has both a verdict and a majority"]
    return lines


def _ratings(said: RatingsReport) -> list[str]:
    lines = [
        f"{plural(len(said.people), 'person', 'people')}, {plural(said.ratings, 'rating')} of two classes on "
        f"{said.rated:,} of {plural(said.findings, 'failure')}",
        *(_person(p, "rating") for p in said.people),
        "",
        "mean over images, 95 % bootstrap interval over images",
        f"  confusion score (1 clearly one of the two, 5 both alike)  {_estimate(said.confusion)}",
        f"  acceptability (2 looks like neither, 10 like both)        {_estimate(said.acceptability)}",
        f"  bias (-4 only the predicted class, 4 only the expected)   {_estimate(said.bias)}",
        f"  seconds                                                   {_estimate(said.seconds)}",
    ]
    if said.control is not None:
        control = said.control
        lines += [
            f"the same of {plural(control.images, 'starting image')} as the generator makes them",
            f"  confusion {_estimate(control.confusion)}, acceptability {_estimate(control.acceptability)}, "
            f"bias {_estimate(control.bias)}, seconds {_estimate(control.seconds)}",
        ]
    if not said.fair:
        lines.append(NOT_FAIR)
    lines += ["", "agreement beyond chance (1 full, 0 chance), 95 % bootstrap interval over images"]
    return lines + [
        f"  looks like the {RATED[part.about]} class: Krippendorff's alpha, {part.level}  {_estimate(part.alpha)}"
        for part in said.agreement
    ]


def calibration_lines(fitted: Recalibrated, path: Path) -> list[str]:
    """What was fitted, and what was not."""
    lines = []
    for about in ("image", "label"):
        part = getattr(fitted.calibration, about)
        if part is not None:
            lines.append(
                f"{path}: {about} threshold {part.threshold:.3f}, fitted on {part.n} failures ({part.accepted} accepted "
                f"by people), balanced error {percent(part.error)} in cross-validation"
            )
    return lines + [f"not fitted, {reason}" for reason in fitted.skipped]


def _person(person: Person, noun: str = "answer") -> str:
    checks = f"attention checks {of(person.checks)}" if person.checks.total else "no attention checks"
    left_out = ", left out" if person.checks.total and not person.answers else ""
    return f"  {person.name}: {plural(person.answers, noun)}, {checks}{left_out}"


def _agreement(part: AgreementReport) -> list[str]:
    lines = [
        f"  {ABOUT[part.about]}",
        f"    Krippendorff's alpha  {_estimate(part.alpha)}",
        f"    Fleiss' kappa         {_estimate(part.fleiss)}, images that everybody has answered",
    ]
    return lines + [
        f"    Cohen's kappa         {_estimate(pair.kappa)}, {pair.first} and {pair.second}, "
        f"who agree on {percent(pair.share)}"
        for pair in part.pairs
    ]


def _validator(score: ValidatorScore) -> str:
    result = score.result
    threshold = "several thresholds" if score.threshold is None else f"threshold {score.threshold:.3g}"
    return (
        f"  {score.validator} about the {score.about} ({threshold}): {plural(result.items, 'image')}, "
        f"AUC {_number(result.auc)}, accepts {_rate(result.true_accept)} of what people accept and "
        f"{_rate(result.false_accept)} of what they reject, Cohen's kappa {_number(result.kappa)}"
    )


def _rate(rate: Rate) -> str:
    return f"{of(rate)}, {percent(rate.share)} ({interval(rate)})" if rate.total else of(rate)


def _share(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return percent(found.value)
    return f"{percent(found.value)} ({100 * found.low:.1f}–{100 * found.high:.1f} %)"


def _estimate(found: Estimate) -> str:
    bounds = "" if found.low is None or found.high is None else f" ({found.low:.2f} to {found.high:.2f})"
    return f"{_number(found.value)}{bounds}, {plural(found.items, 'image')}"


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"
