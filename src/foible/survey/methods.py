"""Which method confuses people most: runs from the same origins, image by image, with the plain reconstruction as control.

Kang, Feldt, Yoo (SINVAD, TOSEM 2024), RQ1. The unit is the image, whose score is the mean of what people say of it. Per
origin the most confusing method is the one with the highest confusion score; ties are counted for nobody. Two methods are
compared over all their images by Welch's t-test, corrected by Holm's rule for the number of comparisons, and Cliff's
delta. Differs from the published code in: everything is at the level of images, tests are of confusion scores and not of
signed differences, and there is a control.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from foible.errors import RecipeError
from foible.metrics import Estimate, Rate, confusion_score, corrected, rate, vargha_delaney
from foible.records import Key
from foible.report.sides import Side, must_share_origins
from foible.report.trials import trials
from foible.store import Run
from foible.store.answers import Rating, read_ratings
from foible.survey.person import Frozen
from foible.survey.ratings import Scores, image_means, scores_of

CONTROL = "plain reconstruction"


class Method(Frozen):
    """What people say of one method's images, and of how many origins its image is the most confusing one."""

    name: str
    scores: Scores
    most_confusing: Rate


class Difference(Frozen):
    """The confusion scores of two methods: Cliff's delta (above 0: the first confuses more) and Welch's test."""

    first: str
    second: str
    delta: float | None
    p: float | None
    corrected: float | None


class Methods(Frozen):
    """All methods, the control last; `origins` are those for which every method's image was rated."""

    origins: int
    ties: int
    methods: tuple[Method, ...]
    differences: tuple[Difference, ...]


def compare_methods(runs: Sequence[Run], seed: int = 0) -> Methods:
    """Compare the ratings of several runs that start from the same origins."""
    if len(runs) < 2:
        raise RecipeError("one method cannot be compared", "name the runs of two methods or more")
    folders = [run.layout.folder.resolve() for run in runs]
    if len(set(folders)) < len(folders):
        raise RecipeError("a run is named twice", "name each run once")
    for other in runs[1:]:
        must_share_origins(_side(runs[0]), _side(other))
    rng = np.random.default_rng(seed)
    said = _by_method(runs)
    means = {name: image_means(confusion_score, ratings) for name, ratings in said.items()}
    by_origin = {name: {key.attempt: score for key, score in mine.items()} for name, mine in means.items()}
    shared = sorted(set.intersection(*(set(mine) for mine in by_origin.values())))
    winners = [_winner({name: mine[attempt] for name, mine in by_origin.items()}) for attempt in shared]
    methods = tuple(
        Method(name=name, scores=scores_of(ratings, rng), most_confusing=rate(winners.count(name), len(shared)))
        for name, ratings in said.items()
    )
    return Methods(
        origins=len(shared), ties=winners.count(None), methods=methods, differences=tuple(_differences(means))
    )


def _side(run: Run) -> Side:
    seed = int(run.manifest.recipe["seed"])
    return Side(str(run.layout.folder), (run,), {(seed, k): trial for k, trial in trials(run).items()})


def _by_method(runs: Sequence[Run]) -> dict[str, list[Rating]]:
    said: dict[str, list[Rating]] = {}
    controls: dict[tuple[str, int], Rating] = {}
    for run in runs:
        places = (run.layout.folder.name, run.layout.folder)
        name = next(n for n in (run.name, *(f"{run.name} ({place})" for place in places)) if n not in said)
        if not (mine := read_ratings(run.layout)):
            raise RecipeError(
                f"nobody has rated images of '{run.layout.folder}' yet",
                f"ask people: foible survey {run.layout.folder} --ratings --controls",
            )
        said[name] = mine
        for rating in read_ratings(run.layout, "control"):
            controls.setdefault((rating.person, rating.finding.attempt), rating)
    if controls:
        said[CONTROL] = list(controls.values())
    return said


def _winner(scores: Mapping[str, float]) -> str | None:
    best = max(scores.values())
    names = [name for name, score in scores.items() if score == best]
    return names[0] if len(names) == 1 else None


def _differences(means: Mapping[str, Mapping[Key, float]]) -> list[Difference]:
    from scipy.stats import ttest_ind

    pairs = list(combinations(means, 2))
    tests: list[float | None] = []
    for first, second in pairs:
        ours, theirs = list(means[first].values()), list(means[second].values())
        enough = min(len(ours), len(theirs)) > 1 and (np.ptp(ours) > 0 or np.ptp(theirs) > 0)
        tests.append(float(ttest_ind(ours, theirs, equal_var=False).pvalue) if enough else None)
    known = iter(corrected([p for p in tests if p is not None]))
    found = []
    for (first, second), p in zip(pairs, tests, strict=True):
        larger = vargha_delaney(list(means[first].values()), list(means[second].values()))
        delta = None if larger is None else 2 * larger - 1
        found.append(
            Difference(first=first, second=second, delta=delta, p=p, corrected=None if p is None else next(known))
        )
    return found


def method_lines(said: Methods) -> list[str]:
    """The comparison as lines of text."""
    lines = [f"{said.origins} starting images whose picture by every method was rated, {said.ties} ties", ""]
    for method in said.methods:
        share, scores = method.most_confusing, method.scores
        lines.append(
            f"{method.name}: most confusing for {share.count} of {share.total} starting images, {_interval(share.low, share.high, 100)} %"
        )
        figures = (("confusion", scores.confusion), ("acceptability", scores.acceptability), ("bias", scores.bias))
        parts = [f"{name} {_mean(value)}" for name, value in (*figures, ("seconds", scores.seconds))]
        lines.append(f"  {scores.images} images: " + ", ".join(parts))
    lines += ["", "confusion, image by image: Cliff's delta, Welch's p, corrected (Holm)"]
    for one in said.differences:
        numbers = ("-" if x is None else f"{x:.3g}" for x in (one.delta, one.p, one.corrected))
        lines.append(f"{one.first} and {one.second}: " + ", ".join(numbers))
    return lines


def _mean(value: Estimate) -> str:
    return "-" if value.value is None else f"{value.value:.2f} ({_interval(value.low, value.high)})"


def _interval(low: float | None, high: float | None, times: float = 1.0) -> str:
    return "?" if low is None or high is None else f"{times * low:.3g} to {times * high:.3g}"
