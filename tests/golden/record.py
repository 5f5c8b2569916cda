"""Fixed recordings, one per search: `python tests/golden/record.py NAME` writes a new one.

A recording changes only when the search is meant to change; the commit says why.
"""

import json
import sys
import tempfile
from pathlib import Path

import foible
from foible.testing import toys
from foible.testing.toys import toy_recipe, write_toy_images

HERE = Path(__file__).parent
RIVAL = {"rival": {"use": f"{Path(toys.__file__)}:ToyClassifier", "name": "rival", "bias": 0.75}}
SURROGATE = {"surrogate": {"use": f"{Path(toys.__file__)}:ToyClassifier", "name": "stand-in", "bias": 0.25}}
ROWS = {  # what a search needs beside its name; the others take a step of their own
    "descent": {"search": {"steady": False}},
    "transfer": {"search": {"steady": False}, "classifiers": SURROGATE},
    "frontier": {"search": {}, "classifiers": RIVAL},
    "boundary-genetic": {"search": {}},
    "shrink": {"search": {"batch": 16, "spread": 0.5}},
    "climb": {"search": {}, "objective": {"use": "surprise", "wanted": 2.0}},
    "mutation_queue": {
        "search": {"seeds": 3, "room": 6, "mutants": 4},
        "classifiers": RIVAL,
        "budget": {"evaluations": 60},
    },
    "deepxplore": {"search": {"partners": ["rival"], "radius": 3.0, "step": 0.05}, "classifiers": RIVAL},
    "dlfuzz": {"search": {"radius": 4.0, "criterion": "kmnc", "rise": 0.0}},
    "pgd": {"search": {"radius": 3.0}},
    "nsga2": {"search": {"population": 8}, "classifiers": RIVAL, "budget": {"evaluations": 100}},
}


def play(name):
    """A toy campaign with this search: what became of every attempt."""
    with tempfile.TemporaryDirectory() as folder:
        images = write_toy_images(Path(folder) / "toys")
        row = ROWS.get(name, {"search": {"extent": 0.004}})
        facts = toy_recipe(images, attempts=12, baseline={"attempts": 0}, validators=[], **row)
        recipe = facts | {"search": {"use": name, **row["search"]}}
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
