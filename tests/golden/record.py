"""Fixed recordings, one per search: `python tests/golden/record.py NAME` writes a new one.

A recording changes only when the search is meant to change; the commit says why.
"""

import inspect
import json
import sys
import tempfile
from pathlib import Path

import foible
from foible.registry import find
from foible.testing.toys import toy_recipe, write_toy_images

HERE = Path(__file__).parent
TOYS = Path(foible.__file__).parent / "testing" / "toys.py"
SURROGATE = {"surrogate": {"use": f"{TOYS}:ToyClassifier", "name": "stand-in", "bias": 0.25}}


def play(name):
    """A toy campaign with this search: what became of every attempt."""
    with tempfile.TemporaryDirectory() as folder:
        images = write_toy_images(Path(folder) / "toys")
        sized = {"extent": 0.004} if "extent" in inspect.signature(find("searches", name)).parameters else {}
        others = {"classifiers": SURROGATE} if name == "transfer" else {}
        recipe = toy_recipe(images, attempts=12, search={"use": name, **sized}, baseline={"attempts": 0}, **others)
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
