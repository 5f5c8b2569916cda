"""A run as others see it: read-only, also while it is being written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foible.errors import StoreError
from foible.names import TESTED, Arm, Status
from foible.records import Finding, Key, Outcome, Verdict
from foible.store.database import WHOLE_FINDINGS, connect, database_errors, to_finding, to_outcome
from foible.store.layout import Layout, inside
from foible.store.manifest import Manifest, read_manifest
from foible.store.sound import LARGEST, row_errors, sound_finding, sound_line, sound_outcome, sound_verdict

if TYPE_CHECKING:
    from foible.types import Images, State


@dataclass(frozen=True)
class FindingLine:
    """What is needed to filter and sort findings without loading them."""

    attempt: int
    number: int
    label: int
    predicted: int
    evaluations: int
    latent_distance: float
    verdicts: tuple[Verdict, ...]

    @property
    def key(self) -> Key:
        """Which finding of its arm it is."""
        return Key(self.attempt, self.number)


@dataclass(frozen=True)
class Run:
    """A run folder opened for reading."""

    layout: Layout
    manifest: Manifest
    database: sqlite3.Connection

    @property
    def name(self) -> str:
        """The recipe's name."""
        return str(self.manifest.recipe["name"])

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order."""
        return self.manifest.classes

    @property
    def state(self) -> str:
        """ "running", "complete", or why it stopped."""
        return self.fact("state") or "empty"

    def fact(self, name: str) -> str | None:
        """Something noted about the run as a whole."""
        rows = self._rows("SELECT value FROM facts WHERE name = ?", name)
        row = next(rows, None)
        return row["value"] if row else None

    def progress(self) -> dict[str, Any] | None:
        """The latest note of the process that writes: arm, share, evaluations, seconds, and the origins under way."""
        note = self.fact("progress")
        with row_errors("the progress", self.layout.folder):
            return dict(json.loads(note)) if note else None

    @property
    def seconds(self) -> float | None:
        """How long processes have worked on it until the last one ended; None where that was not noted."""
        with row_errors("the time it took", self.layout.folder):
            noted = self.fact("seconds")
            return float(noted) if noted else None

    def notes(self) -> list[str]:
        """What happened to the run that its numbers do not show, such as chunks that shrank."""
        with row_errors("the notes", self.layout.folder):
            return [str(note) for note in json.loads(self.fact("notes") or "[]")]

    def outcomes(self, arm: Arm = Arm.SEARCH) -> Iterator[Outcome]:
        """How the attempts ended, in order."""
        for row in self._rows("SELECT * FROM outcomes WHERE arm = ? ORDER BY attempt", arm):
            with row_errors(f"outcome {row['attempt']}", self.layout.folder):
                outcome = to_outcome(row)
                sound_outcome(outcome, len(self.classes))
            yield outcome

    def findings(self, arm: Arm = Arm.SEARCH) -> Iterator[Finding]:
        """Confirmed failures, in order of attempt and number."""
        return map(self._finding, self._rows(f"{WHOLE_FINDINGS} WHERE arm = ? ORDER BY attempt, number", arm))

    def index(self, arm: Arm = Arm.SEARCH) -> list[FindingLine]:
        """All findings in the order they were found, without latents and probabilities: quick for many thousands."""
        columns = "attempt, number, label, predicted, evaluations, latent_distance, verdicts"
        rows = self._rows(f"SELECT {columns} FROM findings WHERE arm = ? ORDER BY rowid", arm)
        return [self._line(row) for row in rows]

    def confidences(self, arm: Arm = Arm.SEARCH) -> dict[Key, float]:
        """How sure the tested classifier is of its wrong answer, for every finding."""
        rows = self._rows(
            "SELECT f.attempt, f.number, f.predicted, o.probabilities FROM findings f JOIN outputs o ON o.arm = f.arm AND "
            "o.attempt = f.attempt AND o.number = f.number WHERE f.arm = ? AND o.role = ? AND o.moment = 'after'",
            arm,
            TESTED,
        )
        found = {}
        for row in rows:
            with row_errors(f"failure {row['attempt']}", self.layout.folder):
                found[Key(row["attempt"], row["number"])] = float(json.loads(row["probabilities"])[row["predicted"]])
        return found

    def finding(self, key: Key | int, arm: Arm = Arm.SEARCH) -> Finding:
        """One failure, by its key; a bare number is an attempt, and stands for its first."""
        key = Key(key) if isinstance(key, int) else key
        asked = (n if 0 <= n <= LARGEST else -1 for n in key)
        row = next(self._rows(f"{WHOLE_FINDINGS} WHERE arm = ? AND attempt = ? AND number = ?", arm, *asked), None)
        if row is None:
            query = "SELECT attempt, number FROM findings WHERE arm = ? ORDER BY attempt, number LIMIT 10"
            known = [str(Key(*r)) for r in self._rows(query, arm)]
            raise StoreError(
                f"'{self.layout.folder}' has no failure {key}", f"the first ones are: {', '.join(known) or 'none'}"
            )
        return self._finding(row)

    def image(self, name: str) -> Images:
        """An image (C, H, W) of the run, as stored in its PNG."""
        from foible.images import read_png

        return read_png(inside(self.layout.folder, name), self.manifest.shape)

    def counts(self, arm: Arm = Arm.SEARCH) -> dict[Status, int]:
        """Number of attempts by how they ended."""
        rows = self._rows("SELECT status, count(*) AS n FROM outcomes WHERE arm = ? GROUP BY status", arm)
        found = {r["status"]: r["n"] for r in rows}
        return {status: found.get(status, 0) for status in Status}

    def version(self) -> tuple[object, ...]:
        """Differs after every write to the database: for whoever remembers something about the run."""
        asked = ("PRAGMA data_version", "SELECT count(*), max(rowid) FROM findings")
        return tuple(tuple(row) for query in asked for row in self._rows(query))

    def shared(self, arm: Arm = Arm.SEARCH) -> State:
        """What the searches of the run have come to share, as units covered; nothing where they share nothing."""
        row = next(self._rows("SELECT state FROM shared WHERE arm = ? ORDER BY wave DESC LIMIT 1", arm), None)
        from safetensors.torch import load

        return load(row["state"]) if row else {}

    def _finding(self, row: sqlite3.Row) -> Finding:
        with row_errors(f"failure {row['attempt']}", self.layout.folder):
            return sound_finding(to_finding(row), len(self.classes))

    def _line(self, row: sqlite3.Row) -> FindingLine:
        with row_errors(f"failure {row['attempt']}", self.layout.folder):
            verdicts = tuple(sound_verdict(Verdict(**v)) for v in json.loads(row["verdicts"]))
            line = FindingLine(**(dict(row) | {"verdicts": verdicts}))
            sound_line(vars(line), len(self.classes))
            return line

    def _rows(self, query: str, *values: object) -> Iterator[sqlite3.Row]:
        with database_errors(self.layout.database):
            cursor = self.database.cursor()
            cursor.row_factory = sqlite3.Row
            cursor.execute(query, values)
            while some := cursor.fetchmany(100):
                yield from some


def open_run(folder: str | Path) -> Run:
    """Open a run folder for reading."""
    layout = Layout(Path(folder))
    if not layout.folder.is_dir():
        raise StoreError(f"no run folder '{folder}'", "name the folder given to `foible run --out`")
    manifest = read_manifest(layout.folder)
    if not layout.database.is_file():
        raise StoreError(f"'{layout.database}' is missing", "run the same recipe again into this folder")
    return Run(layout, manifest, connect(layout.database))
