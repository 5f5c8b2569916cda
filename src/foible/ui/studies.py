"""Questions that another verb than `run` answers: what was asked is kept as the words of a command, beside the result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foible.files import write_whole
from foible.store.layout import Layout
from foible.store.manifest import now
from foible.store.seal import seal, sealed

FILE = "study.json"
VERDICTS, PICTURES, MEASURED, PAGE = "verdicts.csv", "images", "coverage.json", "coverage.html"
RESULTS = {"coverage": MEASURED, "judging": VERDICTS}  # the file that is there when a question is answered


@dataclass(frozen=True)
class Study:
    """A question that was asked, and the words after `foible` that answer it."""

    question: str
    title: str
    domain: str
    model: str
    words: tuple[str, ...]
    created: str = ""

    def answered(self, layout: Layout) -> bool:
        """Whether the result is there."""
        return (layout.folder / RESULTS.get(self.question, "manifest.json")).is_file()


def study_file(layout: Layout) -> Path:
    """Where a study is noted."""
    return layout.folder / FILE


def write_study(layout: Layout, study: Study) -> None:
    """Note what is asked, and that it was asked here."""
    write_whole(study_file(layout), json.dumps(asdict(study) | {"created": now()}, indent=1) + "\n")
    seal(study_file(layout))


def read_study(layout: Layout) -> Study | None:
    """What was asked; None where a folder holds an ordinary run, or something else."""
    try:
        if study_file(layout).is_symlink():
            return None
        facts = json.loads(study_file(layout).read_text(encoding="utf-8"))
        texts = {key: _text(facts[key]) for key in ("question", "title", "domain", "model", "created")}
        return Study(words=tuple(map(_text, facts["words"])), **texts)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def made_here(layout: Layout) -> bool:
    """Whether a study was asked on this machine by this user: only then its words are run again."""
    return sealed(study_file(layout))


def coverage_words(model: Mapping[str, Any], domain: str, suite: Path | None, out: Path) -> list[str]:
    """Measure what a suite exercises; without one, what the domain's test images do."""
    words = ["coverage", str(model["use"]), "--domain", domain, "--out", str(out)]
    return [*words, "--images", str(suite)] if suite else words


def judging_words(images: Path, domain: str, out: Path) -> list[str]:
    """Judge all images at a place."""
    return ["judge", str(images), "--domain", domain, "--out", str(out / VERDICTS)]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
