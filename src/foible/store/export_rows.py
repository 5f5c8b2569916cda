"""A finding as one row for other tools: numbers, what validators say, what people say."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from foible.names import Arm
from foible.records import Finding
from foible.store.answers import NOTHING, OTHER, Answers
from foible.store.reader import Run
from foible.store.selection import NOBODY, WORDS, counts, is_kept, is_valid

PLAIN = (
    "attempt",
    "number",
    "confidence",
    "evaluations",
    "rounds",
    "latent_distance",
    "pixel_distance",
)
COLUMNS = (
    "file", "origin_file", "attempt", "number", "expected", "predicted", "confidence", "evaluations", "rounds",
    "latent_distance", "pixel_distance", "counts", "valid", "label_kept", "verdicts", "people",
)  # fmt: skip


def row(run: Run, finding: Finding, answers: Answers, file: str, origin_file: str) -> dict[str, Any]:
    """All that a table shows of a finding; `verdicts` and `people` as lists of small tables."""
    mine = answers if finding.arm is Arm.SEARCH else NOBODY  # people are asked about what the search found
    said = [(person, given[finding.key]) for person, given in sorted(mine.by_person.items()) if finding.key in given]
    return {
        **{name: getattr(finding, name) for name in PLAIN},
        "file": file,
        "origin_file": origin_file,
        "expected": run.classes[finding.label],
        "predicted": run.classes[finding.predicted],
        "counts": counts(finding, mine),
        "valid": is_valid(finding, mine),
        "label_kept": is_kept(finding, mine),
        "verdicts": [asdict(verdict) for verdict in finding.verdicts],
        "people": [{"person": person, "sees": sees(run, answer)} for person, answer in said],
    }


def csv_row(facts: dict[str, Any]) -> dict[str, Any]:
    """The same for a table of cells: answers as words, lists as JSON."""
    words = {key: WORDS[facts[key]] for key in ("counts", "valid", "label_kept")}
    lists = {key: json.dumps(facts[key], ensure_ascii=False) if facts[key] else "" for key in ("verdicts", "people")}
    return {key: (facts | words | lists)[key] for key in COLUMNS}


def full_row(run: Run, finding: Finding, answers: Answers) -> dict[str, Any]:
    """The row with latents and probabilities as well."""
    return row(run, finding, answers, finding.image, finding.origin_image) | {
        "arm": str(finding.arm),
        "probabilities": list(finding.probabilities),
        "origin_probabilities": list(finding.origin_probabilities),
        "latent": finding.latent.flatten().tolist(),
        "origin_latent": finding.origin_latent.flatten().tolist(),
        "image_sha256": finding.image_sha256,
        "measures": dict(finding.measures),
    }


def sees(run: Run, answer: int) -> str:
    """An answer in words."""
    if answer in (NOTHING, OTHER):
        return "nothing recognisable" if answer == NOTHING else "another class"
    return run.classes[answer] if 0 <= answer < len(run.classes) else "?"


def parquet_schema(pyarrow: Any) -> Any:
    """The columns of the Parquet table with their kinds."""
    text, whole, number, flag = pyarrow.string(), pyarrow.int64(), pyarrow.float64(), pyarrow.bool_()
    verdict = {"validator": text, "accepted": flag, "score": number, "about": text, "threshold": number, "why": text}
    kinds: dict[str, Any] = dict.fromkeys(("arm", "expected", "predicted", "file", "origin_file", "image_sha256"), text)
    kinds |= dict.fromkeys(("attempt", "number", "evaluations", "rounds"), whole)
    kinds |= dict.fromkeys(("confidence", "latent_distance", "pixel_distance"), number)
    kinds |= dict.fromkeys(("counts", "valid", "label_kept"), flag)
    kinds |= dict.fromkeys(
        ("probabilities", "origin_probabilities", "latent", "origin_latent"), pyarrow.list_(pyarrow.float32())
    )
    kinds["verdicts"] = pyarrow.list_(pyarrow.struct(list(verdict.items())))
    kinds["people"] = pyarrow.list_(pyarrow.struct([("person", text), ("sees", text)]))
    kinds["measures"] = pyarrow.map_(text, number)
    return pyarrow.schema(list(kinds.items()))
