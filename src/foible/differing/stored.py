"""A difference as it lies in its run folder: `difference.json`, so that a page can be made without asking a model again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foible.differing.difference import Difference
from foible.differing.selection import Wins
from foible.errors import StoreError
from foible.files import write_whole
from foible.store import Run

FILE = "difference.json"
FORMAT = 1


def facts_of(difference: Difference) -> dict[str, Any]:
    """Everything but the images, as plain values."""
    found, classes = difference.found, difference.classes
    matrix = found.matrix(len(classes))
    return {
        "format": FORMAT,
        "names": list(difference.names),
        "classes": list(classes),
        "state": difference.state,
        "expected_by": difference.expected_by,
        "evaluations": difference.evaluations,
        "attempts": difference.attempts,
        "figures": difference.figures,
        "pairs": [[*place, int(matrix[tuple(place)])] for place in matrix.nonzero().tolist()],
        "expected": found.expected.tolist(),
        "curves": [{"name": c.name, "found_at": list(c.found_at), "queries": c.queries} for c in difference.curves],
        "baselines": {
            name: None if said is None else {"images": len(said), "disagreements": said.disagreements}
            for name, said in (("random images", difference.samples), ("real images", difference.real))
        },
        "by_class": [vars(d) for d in difference.real.by_class()] if difference.real else [],
        "wins": [_wins(w) for w in (difference.selection.overall, *difference.selection.regions)],
        "sieved": [vars(s) for s in difference.sieved],
    }


def save_facts(difference: Difference) -> Path:
    """Write them beside the run."""
    path = difference.run.layout.folder / FILE
    write_whole(path, json.dumps(facts_of(difference), indent=1, allow_nan=False) + "\n")
    return path


def read_facts(run: Run) -> dict[str, Any] | None:
    """What is known of the difference that a run looked for; None where it looked for none."""
    path = run.layout.folder / FILE
    if not path.is_file():
        return None
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts["format"] != FORMAT:
            raise ValueError(f"its format is {facts['format']}, this release reads {FORMAT}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"'{path}' cannot be read: {error}", "make it again: the same `foible diff` command"
        ) from error
    return dict(facts)


def _wins(wins: Wins) -> dict[str, Any]:
    place = list(wins.place) if isinstance(wins.place, tuple) else wins.place
    share = wins.rate
    return {
        "place": place,
        "disagreements": wins.disagreements,
        "a": wins.a,
        "b": wins.b,
        "neither": wins.neither,
        "share": share.share,
        "low": share.low,
        "high": share.high,
        "better": wins.better,
    }
