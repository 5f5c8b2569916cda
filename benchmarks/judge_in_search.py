"""What the judge costs, and what it is worth inside the search.

A recipe twice, on the same origins and the same budget: ending at a confirmed failure, and ending only at a failure that
counts (`steers = true`). Random search with the same origins, budget and rule stands beside both.
Reported: failures that are valid and keep their label, over accepted origins, and evaluations spent per such failure. The
cost of judging is the processor time of the judge on one image over that of the search, with nobody judging, per finding.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

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
    return figures


def price(attempts: int, recipe: str, search: str) -> dict[str, float]:
    """Processor milliseconds of a search per finding with nobody judging, and of the judge per image, alone and among 32."""
    changes = {"attempts": attempts, "baseline.attempts": 0, "search.use": search}
    plain = assemble(load_recipe(recipe, changes | {"validators": [], "steadiness": False}))
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        run(plain, Path(folder) / "run")
        searching = time.process_time() - begin
        found = list(open_run(Path(folder) / "run").findings())
        images = torch.stack([open_run(Path(folder) / "run").image(f.image) for f in found])
    (judge,) = assemble(load_recipe(recipe, changes)).validators
    costs = {"search, per finding": 1000 * searching / len(found)}
    for count in (1, min(32, len(images))):
        some, labels = images[:count], torch.tensor([f.label for f in found[:count]])
        judge(some, labels)
        begin = time.process_time()
        judge(some, labels)
        costs[f"judge, per image of {count}"] = 1000 * (time.process_time() - begin) / count
    return costs


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
    figures["processor milliseconds"] = price(chosen.attempts, chosen.recipe, chosen.search)
    said = {"recipe": chosen.recipe, "search": chosen.search, "attempts": chosen.attempts}
    write(f"judge_in_search_{chosen.search}", figures | said)


if __name__ == "__main__":
    main()
