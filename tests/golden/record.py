"""Fixed recordings, one per search: `python tests/golden/record.py NAME` writes a new one.

A recording changes only when the search is meant to change; the commit says why.
"""

import json
import sys
import tempfile
from pathlib import Path

import foible
from foible.testing.toys import toy_recipe, write_toy_images

HERE = Path(__file__).parent


def play(name):
    """A toy campaign with this search: what became of every attempt."""
    with tempfile.TemporaryDirectory() as folder:
        images = write_toy_images(Path(folder) / "toys")
        recipe = toy_recipe(images, attempts=12, search={"use": name, "extent": 0.004}, baseline={"attempts": 0})
        run = foible.run(recipe, Path(folder) / "run")
        outcomes = [
            [o.attempt, o.label, str(o.status), o.evaluations, o.rounds, round(o.best_score or 0, 3)]
            for o in run.outcomes()
        ]
        findings = [
            [f.attempt, f.predicted, [round(z, 3) for z in f.latent.flatten().tolist()]] for f in run.findings()
        ]
    return {"outcomes": outcomes, "findings": findings}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        text = json.dumps(play(name)).replace("]], ", "]],\n ").replace("], [", "],\n  [")
        (HERE / f"{name}.json").write_text(text + "\n")
