"""Does any coverage criterion, as a second gradient, beat lambda2 = 0? The study of docs/coverage.md, in pieces.

Run: python benchmarks/coverage_study.py --folder FOLDER [--only deepxplore-pixels] [--seconds 280]. The same command goes on
where the last one stopped, and several may run at once; with --table it runs nothing and writes tables of what is there to results.json.

Every run of coverage_study.toml is scored under all criteria: the origins alone, and the origins with their failures.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

import foible
from foible.benchmark import load_matrix
from foible.campaign.assemble import make_validator
from foible.campaign.spec import Part
from foible.classifiers.scopes import scope_of
from foible.coverage import Batch, Criterion
from foible.coverage.batch import read
from foible.domains import load_domain, real_images
from foible.measuring.measure import criteria_of, profiled
from foible.measuring.suites import ordinary_suites
from foible.metrics.corrections import holm
from foible.metrics.mcnemar import exact_mcnemar
from foible.metrics.resampling import estimate
from foible.objectives import covered as books
from foible.records import everyone_accepts
from foible.store import Run
from foible.types import TESTED, Status
from foible.zoo import resolve
from measure import write

HERE = Path(__file__).parent
SEEDS = 10
HELD = 600  # seconds after which a run that somebody began is taken over


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--table", action="store_true")
    told = parser.parse_args()
    torch.set_num_threads(1)
    books.profile_of = once(books.profile_of)
    matrix = load_matrix(HERE / "coverage_study.toml", {}, told.only, SEEDS)
    cells = sorted(matrix.cells, key=lambda cell: cell.parts[-1])  # seed by seed: what is there is a whole
    if told.table:
        tables(cells, told.folder)
        return
    told.folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + told.seconds
    for cell in cells:
        if time.monotonic() > end:
            return
        noted, claim = (told.folder / f"{cell.name}.{kind}" for kind in ("json", "claim"))
        if noted.is_file() or (claim.is_file() and time.time() - claim.stat().st_mtime < HELD):
            continue  # done, or another process is at it
        claim.touch()
        run = foible.run(cell.recipe, told.folder / cell.name, **live(cell.recipe))
        noted.write_text(json.dumps(figures(run), indent=1))


def figures(run: Run) -> dict[str, Any]:
    """What became of each origin, and what origins and failures cover."""
    recipe = run.manifest.recipe
    outcomes = [o for o in run.outcomes() if o.accepted]
    findings = list(run.findings())
    data = real_images(load_domain(recipe["domain"]))
    origins = data.images(torch.tensor([int(o.source.rpartition("#")[2]) for o in outcomes]))
    failures = torch.stack([run.image(f.image) for f in findings]) if findings else origins[:0]
    moved = [run.image(f.image) - run.image(f.origin_image) for f in findings]
    wrong = [wrong_label(f) for f in findings]
    alone, both = covered(recipe["classifier"]["use"], recipe["domain"], origins, failures)
    return {
        "attempts": [o.attempt for o in outcomes],
        "found": [o.status is Status.FOUND for o in outcomes],
        "evaluations": [o.evaluations for o in outcomes],
        "pairs": len({(f.attempt, label) for f, label in zip(findings, wrong, strict=True)}),
        "valid and kept": kept(recipe["domain"], failures, torch.tensor([f.label for f in findings])),
        "l2": [round(float(m.norm()), 4) for m in moved],
        "linf": [round(float(m.abs().max()), 4) for m in moved],
        "wrong labels": wrong,
        "coverage of origins": alone,
        "coverage with failures": both,
    }


def once(fit: Any) -> Any:
    """The same, fitted once for a process: all runs of a setting profile the same classifiers on the same images."""
    known: dict[Any, Any] = {}

    def profile_of(watched: Any, setting: Any, count: int) -> Any:
        key = (watched.classifier, watched.watched, setting.data.source, count)
        if key not in known:
            known[key] = fit(watched, setting, count)
        return known[key]

    return profile_of


def live(recipe: Any) -> dict[str, Any]:
    """The models of a recipe, loaded once for all runs of a process."""
    others = {role: model(part.use, recipe.domain) for role, part in recipe.classifiers.items()}
    return {"classifier": model(recipe.classifier.use, recipe.domain), "classifiers": others}


@cache
def model(name: str, domain: str) -> Any:
    """A classifier of the zoo."""
    return resolve("classifiers", name, {}, load_domain(domain)).model


@cache
def judge(domain: str) -> Any:
    """Who says whether a failure is valid and keeps its label."""
    about = load_domain(domain)
    return make_validator(Part(use="judge"), about, real_images(about))


def kept(domain: str, images: torch.Tensor, labels: torch.Tensor) -> int:
    """How many failures the judge calls valid with their label kept."""
    return sum(everyone_accepts(said) for said in judge(domain)(images, labels)) if len(images) else 0


def wrong_label(finding: Any) -> int:
    """What a classifier takes a failure for that others, or the label, do not."""
    said = [int(np.argmax(p)) for p in finding.after.values()]
    mine = said[list(finding.after).index(TESTED)]
    return mine if mine != finding.label else next((s for s in said if s != finding.label), mine)


@cache
def scored(name: str, domain: str) -> tuple[Any, dict[str, Criterion]]:
    """A classifier and all criteria on a profile of 2,000 training images."""
    ordinary = ordinary_suites(load_domain(domain), None, 2_000)
    classifier = model(name, domain)
    scope = scope_of(classifier, next(ordinary.profile.parts()).images[:2])
    return classifier, criteria_of(profiled(classifier, ordinary.profile, scope, "study")).chosen


@torch.no_grad()
def covered(name: str, domain: str, origins: torch.Tensor, failures: torch.Tensor) -> tuple[dict[str, float], ...]:
    """The value of every criterion for origins alone, and with failures."""
    classifier, criteria = scored(name, domain)

    def batch(images: torch.Tensor) -> Batch:
        scope = next(iter(criteria.values())).profile.scope
        logits, seen = classifier.inspect(images, scope.layers)
        return read(seen, scope, logits.argmax(1))

    values: list[dict[str, float]] = []
    for criterion in criteria.values():
        criterion.state = criterion.empty()
    for images in (origins, failures):
        for criterion in criteria.values():
            if len(images):
                criterion.absorb(batch(images))
        values.append({name: criterion.value() for name, criterion in criteria.items()})
    return tuple(values)


def tables(cells: Any, folder: Path) -> None:
    """Every setting: outcomes by what guides, the difference from lambda2 = 0 by origin, and the cross-coverage matrix.

    Only seeds that all guides of a setting have run count, so that all rows of a table are of the same origins.
    """
    done: dict[str, dict[str, dict[str, Any]]] = {}
    for cell in cells:
        path = folder / f"{cell.name}.json"
        if path.is_file():
            setting, guide, seed = cell.parts
            done.setdefault(setting, {}).setdefault(guide, {})[seed] = json.loads(path.read_text())
    for setting, every in done.items():
        if not (whole := set.intersection(*(set(runs) for runs in every.values()))):
            continue
        guides = {guide: {seed: runs[seed] for seed in sorted(whole)} for guide, runs in every.items()}
        rows = {guide: row(list(runs.values())) for guide, runs in guides.items()}
        against = {
            g: difference(guides["none"], runs) for g, runs in guides.items() if g != "none" and "none" in guides
        }
        tested = [g for g in against if g not in ("unit", "published", "pgd")]
        for guide, p in zip(tested, holm([against[g]["p"] for g in tested]), strict=True):
            against[guide]["p after Holm"] = round(p, 4)
        write(f"coverage_study_{setting}", {"guides": rows, "against lambda2 = 0": against})


def row(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """One line of a table; intervals are 95 %, by bootstrap over seeds."""

    def over(statistic: Any) -> list[float | None]:
        found = estimate(len(runs), lambda rows: statistic([runs[i] for i in rows]), np.random.default_rng(0))
        return [None if v is None else round(v, 4) for v in (found.value, found.low, found.high)]

    def total(name: str) -> Any:
        return lambda some: sum(sum(r[name]) if isinstance(r[name], list) else r[name] for r in some)

    origins = lambda some: max(1, sum(len(r["found"]) for r in some))  # noqa: E731
    ones = lambda name: lambda some: mean([x for r in some for x in r[name]])  # noqa: E731
    gains = {
        name: over(
            lambda some, n=name: mean([r["coverage with failures"][n] - r["coverage of origins"][n] for r in some])
        )
        for name in runs[0]["coverage of origins"]
    }
    return {
        "seeds": len(runs),
        "origins": origins(runs),
        "share of origins broken": over(lambda some: total("found")(some) / origins(some)),
        "distinct (origin, wrong label)": total("pairs")(runs),
        "share of origins broken, valid and kept": over(lambda some: total("valid and kept")(some) / origins(some)),
        "evaluations to success, median": over(
            lambda some: median([e for r in some for e, f in zip(r["evaluations"], r["found"], strict=True) if f])
        ),
        "evaluations per origin": over(lambda some: mean([e for r in some for e in r["evaluations"]])),
        "l2": over(ones("l2")),
        "linf": over(ones("linf")),
        "entropy of wrong labels, bits": over(lambda some: entropy([x for r in some for x in r["wrong labels"]])),
        "coverage of origins": {n: round(mean([r["coverage of origins"][n] for r in runs]) or 0, 4) for n in gains},
        "coverage gained": gains,
    }


def difference(control: dict[str, Any], guided: dict[str, Any]) -> dict[str, Any]:
    """Origins that only one of the two breaks, and how surely that is no chance (McNemar's exact test)."""
    pairs = []
    for seed in control.keys() & guided.keys():
        one, other = (dict(zip(r[seed]["attempts"], r[seed]["found"], strict=True)) for r in (control, guided))
        pairs += [(one[k], other[k]) for k in one.keys() & other.keys()]
    only = Counter(pairs)
    return {
        "origins": len(pairs),
        "only with it": only[(False, True)],
        "only without it": only[(True, False)],
        "p": round(exact_mcnemar(only[(True, False)], only[(False, True)]), 4),
    }


def mean(numbers: list[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def median(numbers: list[float]) -> float | None:
    return float(np.median(numbers)) if numbers else None


def entropy(labels: list[int]) -> float | None:
    if not labels:
        return None
    shares = [n / len(labels) for n in Counter(labels).values()]
    return -sum(p * math.log2(p) for p in shares)


if __name__ == "__main__":
    main()
