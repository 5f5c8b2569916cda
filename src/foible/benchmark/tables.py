"""The published tables of a benchmark, from its runs and the cards of its models: generators (II) and results (III).

A value is kept as what it is (a rate with its counts, a mean with its interval), so that every format can say all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foible.benchmark.matrix import Cell, Matrix
from foible.errors import FoibleError
from foible.metrics import Cost, Rate, median_cost, rate
from foible.metrics.diversity import NEAR
from foible.report import summarise
from foible.report.harvest import gathers, harvest
from foible.report.summary import Summary
from foible.report.trials import trials
from foible.report.wording import short_name
from foible.store import Run, open_run
from foible.zoo import cards


@dataclass(frozen=True)
class Mean:
    """A mean with its 95 % interval."""

    value: float
    low: float | None = None
    high: float | None = None


Value = str | int | float | Rate | Mean | None


@dataclass(frozen=True)
class Table:
    """Rows under headings; `note` says how to read it."""

    name: str
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str


@dataclass(frozen=True)
class Result:
    """A cell with its run; None where it has not begun or cannot be read."""

    cell: Cell
    run: Run | None


def results(matrix: Matrix, folder: Path) -> list[Result]:
    """The runs of a benchmark folder, in the matrix's order."""
    return [Result(cell, _opened(folder / cell.name)) for cell in matrix.cells]


def generators_table(matrix: Matrix) -> Table:
    """Table II: what the generators are and cost, from their cards."""
    used = dict.fromkeys((cell.recipe.domain, cell.recipe.generator.use) for cell in matrix.cells)
    known = cards()
    rows: list[tuple[Value, ...]] = []
    for domain, use in used:
        card = known.get(use)
        figures: Mapping[str, float] = card.figures if card else {}
        latent = figures.get("latent_size")
        rows.append(
            (
                short_name(domain),
                short_name(use),
                int(latent) if latent is not None else None,
                card.parameters if card else None,
                round(card.training_seconds / 60, 1) if card else None,
                figures.get("decode_ms"),
            )
        )
    return Table(
        "generators",
        "Generators",
        ("domain", "generator", "latent size", "parameters", "training, min", "decoding, ms per image"),
        tuple(rows),
        "From the models' cards, each measured on the machine that trained it. Models without a card are n/a.",
    )


def results_table(found: Sequence[Result]) -> Table:
    """Table III: accepted starting images, failures, iterations, validity and labels, by the judge and by people apart."""
    told = [(r, summarise(r.run)) if r.run else (r, None) for r in found]
    people = any(s and s.search.stage("valid_by_people") for _, s in told)
    all_kept = any(r.run is not None and gathers(r.run) for r in found)
    headings = (
        *("cell", "state", "accepted starting images", "confirmed failures", "iterations", "evaluations, median"),
        *("steady", "valid", "label kept, of valid", "failures that count"),
        *(("valid, by people", "label kept, by people") if people else ()),
        *(("failures kept", "distinct", "distinct per 1,000 evaluations") if all_kept else ()),
    )
    return Table(
        "results",
        "Results",
        headings,
        tuple((*_row(r, s, people), *(_harvest(r) if all_kept else ())) for r, s in told),
        "Shares with 95 % Wilson intervals: accepted starting images of attempts, confirmed failures of accepted starting images, steady and "
        "valid of failures judged, label kept of valid ones, failures that count (all three) of accepted starting images. "
        "Iterations: mean over accepted starting images with its 95 % interval, unsolved ones counted in full, as published. "
        "Evaluations: median with unsolved starting images censored (Kaplan and Meier)."
        + (
            f" Distinct: further than {NEAR} from every failure found before, in root mean square of pixels." * all_kept
        ),
    )


def _row(result: Result, summary: Summary | None, people: bool) -> tuple[Value, ...]:
    if summary is None or result.run is None:
        return (result.cell.name, "not run", *[None] * (10 if people else 8))
    search, ended = summary.search, trials(result.run).values()
    valid, kept = search.stage("valid"), search.stage("label_kept")
    judged = [t.counts for t in ended if t.counts is not None]
    rounds = search.rounds
    return (
        result.cell.name,
        summary.facts.state,
        rate(accepted.count, search.attempts) if (accepted := search.stage("accepted")) else None,
        search.stage("confirmed"),
        Mean(rounds.mean, rounds.mean_low, rounds.mean_high) if rounds.mean is not None else None,
        _median([t.cost for t in ended], summary.facts.budget_evaluations),
        search.stage("steady"),
        valid,
        rate(kept.count, valid.count) if kept and valid and kept.count <= valid.count else None,
        rate(sum(judged), len(judged)) if judged and kept else None,
        *((search.stage("valid_by_people"), search.stage("label_kept_by_people")) if people else ()),
    )


def _harvest(result: Result) -> tuple[Value, ...]:
    """What a run that keeps every failure has gathered."""
    if result.run is None or not gathers(result.run):
        return (None, None, None)
    found = harvest(result.run)
    return (found.failures, found.distinct, round(found.each_thousand, 1))


def _median(costs: list[Cost], budget: int) -> Value:
    middle = median_cost(costs)
    return middle if middle is not None else f"> {budget}" if costs else None


def _opened(folder: Path) -> Run | None:
    try:
        return open_run(folder)
    except FoibleError:
        return None
