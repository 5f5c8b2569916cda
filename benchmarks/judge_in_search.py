"""What the judge costs, and what it is worth inside the search.

A recipe twice, on the same origins and the same budget: ending at a confirmed failure, and ending only at a failure that
counts (`steers = true`). Random search with the same origins, budget and rule stands beside both.
Reported: failures that are valid and keep their label, over accepted origins, and evaluations spent per such failure. The
cost of judging is the time of the judge on one finding over the time of the search per finding.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

from foible.campaign import assemble, load_recipe, run
from foible.metrics import rate
from foible.store import open_run
from foible.types import Arm
from measure import seconds, write


def counted(steers: bool, attempts: int, baseline: int, recipe: str, search: str) -> dict[str, Any]:
    changes = {"attempts": attempts, "baseline.attempts": baseline, "search.use": search, "steers": steers}
    campaign = assemble(load_recipe(recipe, changes))
    with tempfile.TemporaryDirectory() as folder:
        took = seconds(lambda: run(campaign, Path(folder) / "run"))
        opened = open_run(Path(folder) / "run")
        figures: dict[str, Any] = {"seconds": took}
        for arm in (Arm.SEARCH, Arm.BASELINE):
            outcomes, findings = list(opened.outcomes(arm)), list(opened.findings(arm))
            accepted = sum(o.accepted for o in outcomes)
            good = sum(all(v.accepted for v in f.verdicts) for f in findings)
            spent = sum(o.evaluations for o in outcomes)
            share = rate(good, accepted)
            figures[str(arm)] = {
                "accepted_origins": accepted,
                "confirmed": len(findings),
                "that_count": good,
                "share": share.share,
                "interval": [share.low, share.high],
                "evaluations_per_failure_that_counts": spent / good if good else None,
            }
        image = opened.image(next(opened.findings()).image)[None]
    (judge,) = campaign.validators
    label = campaign.data.labels[:1]
    judge(image, label)
    one = statistics.median(seconds(lambda: judge(image, label)) for _ in range(20))
    figures["judging_over_searching"] = one / (took / max(1, figures[str(Arm.SEARCH)]["confirmed"]))
    return figures


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--recipe", default="demo")
    options.add_argument("--search", default="descent")
    options.add_argument("--attempts", type=int, default=24)
    options.add_argument("--baseline", type=int, default=8)
    chosen = options.parse_args()
    figures = {
        name: counted(steers, chosen.attempts, chosen.baseline, chosen.recipe, chosen.search)
        for name, steers in (("confirmed", False), ("counts", True))
    }
    said = {"recipe": chosen.recipe, "search": chosen.search, "attempts": chosen.attempts}
    write(f"judge_in_search_{chosen.search}", figures | said)


if __name__ == "__main__":
    main()
