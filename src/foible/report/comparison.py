"""Runs side by side on the same origins, as one value: the command line and the page both show this."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from foible.errors import RecipeError
from foible.metrics import CochranQ, Correction, Rate, cochran_q, corrected, rate
from foible.report.comparison_words import between_all, worded
from foible.report.duels import Duel, Test, comparable_judges, duel
from foible.report.frozen import Frozen
from foible.report.sides import Side, must_share_origins, sides
from foible.report.wording import plural, short_name
from foible.store import Run


class SideFacts(Frozen):
    """A side in numbers, on all its own origins; `counts` is None where nobody has judged."""

    name: str
    folders: tuple[str, ...]
    seeds: tuple[int, ...]
    classifier: str
    search: str
    budget: int
    confirmed: Rate
    counts: Rate | None


class Omnibus(Frozen):
    """Cochran's Q over all sides at once, on the origins that all of them accepted."""

    measure: str
    result: CochranQ
    sentence: str


class Comparison(Frozen):
    """Every pair of sides, with p-values corrected for all tests shown together."""

    sides: tuple[SideFacts, ...]
    duels: tuple[Duel, ...]
    omnibus: tuple[Omnibus, ...]
    correction: Correction
    tests: int
    notes: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """What is to be said, one sentence per test."""
        return [o.sentence for o in self.omnibus] + [t.sentence for d in self.duels for t in d.tests.values()]


def compare(runs: Sequence[Run], names: Sequence[str] | None = None, correction: Correction = "holm") -> Comparison:
    """Compare runs on the origins they share; runs that differ by their seed alone are one side.

    Args:
        runs: two or more, opened.
        names: what to call them; the names of their folders by default.
        correction: "holm" (no false difference) or "benjamini-hochberg" (few false ones) over all tests shown.

    Raises:
        RecipeError: two of them do not start from the same images; it says why.
    """
    found = sides(runs, names)
    if len(found) < 2:
        raise RecipeError(
            "there is nothing to compare: " + ("these runs differ by their seed alone" if len(runs) > 1 else "one run"),
            "name two or more runs that share domain, data, generator and seed, and differ in search or classifier",
        )
    for first, second in combinations(found, 2):
        must_share_origins(first, second)
    return compare_sides(found, correction)


def compare_sides(found: Sequence[Side], correction: Correction = "holm") -> Comparison:
    """Compare sides that are known to share origins."""
    duels = [duel(first, second) for first, second in combinations(found, 2)]
    family = corrected([test.p_value for d in duels for test in d.tests.values()], correction)
    return Comparison(
        sides=tuple(map(_facts, found)),
        duels=tuple(_worded(d, iter(family[start:])) for d, start in zip(duels, _starts(duels), strict=True)),
        omnibus=tuple(_omnibus(found)),
        correction=correction,
        tests=len(family),
        notes=tuple(_notes(found)),
    )


def _starts(duels: Sequence[Duel]) -> Iterator[int]:
    """Where each duel's p-values begin in the family."""
    start = 0
    for one in duels:
        yield start
        start += len(one.tests)


def _worded(one: Duel, family: Iterator[float]) -> Duel:
    """A duel with corrected p-values and its sentences."""
    said: dict[str, Test] = {}
    for measure, test in one.tests.items():
        put = test.model_copy(update={"corrected": next(family)})
        said[measure] = put.model_copy(update={"sentence": worded(one, put, measure)})
    return one.model_copy(update=said)


def _omnibus(found: Sequence[Side]) -> Iterator[Omnibus]:
    if len(found) < 3:
        return
    shared = sorted(set.intersection(*(set(side.trials) for side in found)))
    confirmed = [[side.trials[k].confirmed for side in found] for k in shared]
    said = [[side.trials[k].counts for side in found] for k in shared]
    judged = all(comparable_judges(found[0], side) for side in found)
    counts = [list(map(bool, row)) for row in said if None not in row] if judged else []
    for measure, table in (("confirmed", confirmed), ("counts", counts)):
        if table:
            result = cochran_q(table)
            yield Omnibus(measure=measure, result=result, sentence=between_all(measure, len(found), result))


def _facts(side: Side) -> SideFacts:
    said = [t.counts for t in side.trials.values() if t.counts is not None]
    judged = bool(side.recipe.get("validators"))
    return SideFacts(
        name=side.name,
        folders=tuple(str(run.layout.folder) for run in side.runs),
        seeds=side.seeds,
        classifier=short_name(str(side.recipe["classifier"]["use"])),
        search=str(side.recipe["search"]["use"]),
        budget=side.budget,
        confirmed=rate(sum(t.confirmed for t in side.trials.values()), len(side.trials)),
        counts=rate(sum(said), len(said)) if said and judged else None,
    )


def _notes(found: Sequence[Side]) -> Iterator[str]:
    """What a reader must know before believing the tests."""
    seeds = {len(side.seeds) for side in found}
    if seeds == {1}:
        yield "One seed each: how far results vary from seed to seed is not covered by these tests."
    else:
        yield "Seeds: " + ", ".join(f"{side.name} {len(side.seeds)}" for side in found) + "."
    budgets = {side.budget for side in found}
    if len(budgets) > 1:
        yield "Budgets differ: " + ", ".join(f"{side.name} {side.budget:,}" for side in found) + " evaluations."
    for side in found:
        open_ = [run for run in side.runs if run.state != "complete"]
        if open_:
            yield f"{side.name}: {plural(len(open_), 'run is', 'runs are')} not complete; quick failures end first."
    if not all(comparable_judges(found[0], side) for side in found):
        yield "Failures that count are compared only where both sides were judged by the same validators."
    rules = {repr([side.recipe.get(key) for key in ("ends", "keeps", "steers")]) for side in found}
    if len(rules) > 1:
        yield "The sides end a search by different rules, which changes what they find and what it costs."
    on = [side.name for side in found if side.recipe.get("ends") == "never"]
    if on:
        yield f"Evaluations of {', '.join(on)} are those up to the failure that was kept: it searches on after the first."
