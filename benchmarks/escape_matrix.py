"""The class-escape matrix of MNIST with 200 origins per ordered pair: how long it takes, and whether it agrees with the published one.

Distinct test images that the classifier gets right; nearest crossing towards the target by `descent`. The published matrix
(Kang, Feldt, Yoo, TOSEM 2024, Fig. 14 b) has escapes per 1,000 attempts of another network, VAE and search; compared are ranks
of the 90 cells off the diagonal. Runs go on where they stopped; the seconds of the pieces are added up.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import foible
from foible.borders.escapes import Escapes, escapes, usual_distance
from foible.metrics import estimate
from foible.store import Run, open_run
from measure import write

PUBLISHED = """
1000 193 830 758 422 901 789 717 670 657
96 1000 849 810 641 629 580 779 683 561
537 605 1000 910 518 432 506 669 638 408
524 472 776 1000 346 939 387 576 695 642
457 459 742 609 1000 696 615 881 657 939
736 390 448 931 406 1000 643 527 757 732
808 578 856 558 823 839 1000 369 666 547
419 539 667 846 615 674 147 998 392 875
532 487 961 975 572 944 621 594 1000 849
437 343 522 841 958 775 479 965 699 1000
"""


def go_on(folder: Path, origins: int, seconds: float) -> dict[str, float]:
    """Search by the recipe `escapes`, or go on with it; gives the seconds of this piece, by the clock and of the processor."""
    begin, busy = time.perf_counter(), time.process_time()
    run = foible.run("escapes", folder, **{"attempts": 90 * origins, "budget.seconds": seconds})
    spent = {"clock": time.perf_counter() - begin, "processor": time.process_time() - busy}
    return {name: round(value, 1) for name, value in spent.items()} | {"ended": sum(run.counts().values())}


def agreement(cells: dict[tuple[int, int], float]) -> list[float | None]:
    """Spearman's rank correlation of figures of cells (more is easier) with the published ones, with an interval over cells."""
    published = np.array([[int(n) for n in line.split()] for line in PUBLISHED.strip().splitlines()])
    ours, theirs = np.array(list(cells.values())), np.array([published[pair] for pair in cells])
    said = estimate(
        len(ours), lambda rows: float(spearmanr(ours[rows], theirs[rows]).statistic), np.random.default_rng(0)
    )
    return [said.value, said.low, said.high]


def nearness(run: Run) -> dict[tuple[int, int], float]:
    """The median L2 distance of each cell, the other way round; an origin that held is farther than any that escaped."""
    found = {f.attempt: f.latent_distance for f in run.findings()}
    far = 2 * max(found.values())
    cells: dict[tuple[int, int], list[float]] = {}
    for o in run.outcomes():
        if o.accepted:
            cells.setdefault((o.label, o.target), []).append(found.get(o.attempt, far))
    return {pair: -float(np.median(distances)) for pair, distances in sorted(cells.items())}


def shares(found: Escapes) -> dict[tuple[int, int], float]:
    """The share of each cell."""
    return {pair: cell.escaped.share or 0.0 for pair, cell in found.cells.items()}


def figures(run: Run, spent: list[dict[str, float]]) -> dict[str, Any]:
    """All figures of a run."""
    whole, usual = escapes(run), usual_distance(run)
    totals = [cell.escaped.total for cell in whole.cells.values()]
    return {
        "pieces": spent,
        "seconds": round(sum(piece["clock"] for piece in spent), 1),
        "processor_seconds": round(sum(piece["processor"] for piece in spent), 1),
        "state": run.state,
        "accepted": sum(totals),
        "accepted_per_cell": [min(totals), max(totals)],
        "escaped": sum(c.escaped.count for c in whole.cells.values()),
        "evaluations_mean": float(np.mean([o.evaluations for o in run.outcomes() if o.accepted])),
        "median_l1": usual,
        "published, shares within the median": agreement(shares(escapes(run, within=usual))),
        "published, shares without a limit": agreement(shares(whole)),
        "published, median L2 distance": agreement(nearness(run)),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--origins", type=int, default=200)
    arguments.add_argument("--seconds", type=float, default=3600, help="of this piece")
    arguments.add_argument("--folder", type=Path, default=Path("escape-runs"))
    arguments.add_argument("--table", action="store_true", help="only read what has been run")
    chosen = arguments.parse_args()
    ledger = chosen.folder.with_suffix(".seconds.json")
    spent = json.loads(ledger.read_text()) if ledger.is_file() else []
    if not chosen.table:
        spent.append(go_on(chosen.folder, chosen.origins, chosen.seconds))
        ledger.write_text(json.dumps(spent))
        print(spent)
    else:
        write("escape_matrix", {"origins": chosen.origins, **figures(open_run(chosen.folder), spent)})


if __name__ == "__main__":
    main()
