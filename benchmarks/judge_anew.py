"""Verdicts of the present judge on the failures of runs that are there.

    python benchmarks/judge_anew.py runs/gift/*

For a study that was searched before its judge was changed: nothing is searched again, the stored images are judged, and
what was said of their steadiness stays.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import torch

from foible.campaign import load_recipe
from foible.campaign.assemble import make_validator
from foible.domains import load_domain
from foible.domains.sources import real_images
from foible.store import Run, open_run
from foible.store.database import connect

ROWS = 64  # images judged together


def judged_anew(run: Run) -> int:
    """Put the present verdicts in the place of the stored ones; gives how many failures now count or no longer do."""
    recipe = load_recipe(run.manifest.recipe)
    domain = load_domain(recipe.domain)
    data = real_images(domain, recipe.data)
    validators = [make_validator(part, domain, data) for part in recipe.validators or ()]
    changed = 0
    with closing(connect(run.layout.database, write=True)) as database:
        findings = list(run.findings())
        for some in (findings[k : k + ROWS] for k in range(0, len(findings), ROWS)):
            images = torch.stack([run.image(f.image) for f in some])
            said = [v(images, torch.tensor([f.label for f in some])) for v in validators]
            for k, finding in enumerate(some):
                steady = [v for v in finding.verdicts if v.about == "steadiness"]
                verdicts = [*steady, *chain.from_iterable(column[k] for column in said)]
                changed += finding.counts != all(v.accepted for v in verdicts)
                with database:
                    database.execute(
                        "UPDATE findings SET verdicts = ? WHERE arm = ? AND attempt = ? AND number = ?",
                        (json.dumps([asdict(v) for v in verdicts]), finding.arm, finding.attempt, finding.number),
                    )
    return changed


if __name__ == "__main__":
    for folder in map(Path, sys.argv[1:]):
        if (folder / "manifest.json").is_file():
            print(folder.name, judged_anew(open_run(folder)), flush=True)
