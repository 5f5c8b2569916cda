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
from foible.borders.escapes import Escapes, escapes
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


def go_on(folder: Path, origins: int, seconds: float) -> float:
    """Search, or go on with it; gives the seconds of this piece."""
    changes: dict[str, Any] = {
        "search": {"use": "descent", "steady": False, "keep": 1e-4, "shrinks": 6},
        "objective": "boundary",
        "rank": "l2",
        "attempts": 90 * origins,
        "engine.lanes": 256,
        "engine.chunk": 256,
        "budget.seconds": seconds,
    }
    begin = time.perf_counter()
    foible.run("escapes", folder, **changes)
    return time.perf_counter() - begin


def agreement(found: Escapes, published: np.ndarray[Any, Any]) -> dict[str, float]:
    """Spearman's rank correlation with the published cells: of shares, and of distances (nearer is easier)."""
    cells = list(found.cells.values())
    theirs = [published[c.label, c.target] for c in cells]
    shares = [c.escaped.share or 0.0 for c in cells]
    far = max(c.distance or 0.0 for c in cells)
    near = [-(c.distance if c.distance is not None else far) for c in cells]
    return {"shares": float(spearmanr(shares, theirs).statistic), "nearness": float(spearmanr(near, theirs).statistic)}


def figures(run: Run, seconds: float) -> dict[str, Any]:
    """All figures of a run."""
    published = np.array([[int(n) for n in line.split()] for line in PUBLISHED.strip().splitlines()])
    whole = escapes(run)
    usual = float(np.median([c.distance for c in whole.cells.values() if c.distance is not None]))
    return {
        "seconds": round(seconds, 1),
        "state": run.state,
        "accepted": sum(c.escaped.total for c in whole.cells.values()),
        "escaped": sum(c.escaped.count for c in whole.cells.values()),
        "median_distance": usual,
        "published_and_all": agreement(whole, published),
        "published_and_within_median": agreement(escapes(run, within=usual), published),
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
        write("escape_matrix", {"origins": chosen.origins, **figures(open_run(chosen.folder), sum(spent))})


if __name__ == "__main__":
    main()
