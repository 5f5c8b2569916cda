"""The one process that writes a run."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout
from safetensors.numpy import save as save_arrays
from safetensors.torch import load as load_tensors

from foible.errors import RecipeError, StoreError
from foible.files import disk_errors, write_new
from foible.records import Finding, Outcome
from foible.store.database import connect, database_errors, insert, insert_finding, outcome_row
from foible.store.layout import Layout, no_links_outside
from foible.store.manifest import Manifest, differences, now, read_manifest, write_manifest
from foible.store.seal import seal
from foible.types import Arm, State

ORIGINS = 256  # whose files are known to be there: findings of one origin come close together


class RunWriter:
    """Creates a run folder or goes on with an existing one; refuses a folder made by another recipe."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.layout = Layout(folder)
        with disk_errors(folder):
            if folder.exists() and not folder.is_dir():
                raise RecipeError(f"--out '{folder}' is a file", "name a folder")
            self.layout.images.mkdir(parents=True, exist_ok=True)
            no_links_outside(folder)
        self._lock = FileLock(self.layout.lock)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise StoreError(
                f"another process is writing '{folder}'", "wait for it, stop it, or choose another --out"
            ) from None
        try:
            self.manifest = self._settle(manifest)
            self.database = connect(self.layout.database, write=True)
            self.set_fact("state", "running")
            self.begun = time.monotonic()
            self._origins: list[str] = []  # whose files were written last
        except BaseException:
            self._lock.release()
            raise

    def _settle(self, manifest: Manifest) -> Manifest:
        if not self.layout.manifest.exists():
            write_manifest(self.layout, manifest)
            seal(self.layout.manifest)
            return manifest
        before = read_manifest(self.layout.folder)
        changed = differences(before.identity(), manifest.identity())
        if changed:
            raise RecipeError(
                f"'{self.layout.folder}' holds a run of another recipe:\n    " + "\n    ".join(changed),
                "choose another --out, or go back to the recipe of that run",
            )
        return before

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.database.close()
        finally:
            self._lock.release()

    def set_fact(self, name: str, value: str) -> None:
        """Note something about the run as a whole."""
        with database_errors(self.layout.database), self.database:
            insert(self.database, "facts", {"name": name, "value": value})

    def note_progress(self, progress: Mapping[str, Any]) -> None:
        """Note how far the run is, for whoever watches it; only the latest note is kept. Inside a transaction."""
        insert(self.database, "facts", {"name": "progress", "value": json.dumps(progress)})

    def done(self, arm: Arm) -> set[int]:
        """Attempts that have an outcome."""
        with database_errors(self.layout.database):
            rows = self.database.execute("SELECT attempt FROM outcomes WHERE arm = ?", (arm,)).fetchall()
        return {r[0] for r in rows}

    def searched(self, arm: Arm) -> list[tuple[int, int, int, float | None]]:
        """Attempt, class, target and distance of every accepted origin that was searched; None where nothing was found.

        The distance is that of the nearest finding: L1 where it was measured, else L2.
        """
        query = """
        SELECT o.attempt, o.label, o.target,
          (SELECT min(coalesce(m.value, f.latent_distance)) FROM findings f LEFT JOIN measures m
           ON m.arm = f.arm AND m.attempt = f.attempt AND m.number = f.number AND m.name = 'l1'
           WHERE f.arm = o.arm AND f.attempt = o.attempt)
        FROM outcomes o WHERE o.arm = ? AND o.status != 'rejected' ORDER BY o.attempt"""
        with database_errors(self.layout.database):
            return self.database.execute(query, (arm,)).fetchall()

    def found(self, arm: Arm) -> int:
        """Number of findings so far."""
        with database_errors(self.layout.database):
            return int(self.database.execute("SELECT count(*) FROM findings WHERE arm = ?", (arm,)).fetchone()[0])

    def checkpointed(self, arm: Arm) -> set[int]:
        """Attempts whose unfinished search was saved."""
        with database_errors(self.layout.database):
            rows = self.database.execute("SELECT attempt FROM checkpoints WHERE arm = ?", (arm,)).fetchall()
        return {r[0] for r in rows}

    def close_with(self, state: str) -> None:
        """Note how the run was left; on a full disk this may be impossible, and the first error is the one to show."""
        with contextlib.suppress(StoreError):
            self.set_fact("seconds", f"{self._worked_before() + time.monotonic() - self.begun:.1f}")
            self.set_fact("ended", now())
            self.set_fact("state", state)

    def _worked_before(self) -> float:
        """The seconds that earlier processes have worked on this run."""
        with database_errors(self.layout.database):
            noted = self.database.execute("SELECT value FROM facts WHERE name = 'seconds'").fetchone()
        try:
            return float(noted[0]) if noted else 0.0
        except ValueError:
            return 0.0

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is committed at once, or nothing of it."""
        with database_errors(self.layout.database), self.database:
            yield

    def add_finding(self, finding: Finding, origin_png: bytes, png: bytes) -> None:
        """A finding with its two files; inside a transaction. What was found from one origin shares that one's file."""
        if finding.origin_image not in self._origins:
            self._add_image(finding.origin_image, origin_png, finding.origin_sha256)
            self._origins = [*self._origins[1 - ORIGINS :], finding.origin_image]
        self._add_image(finding.image, png, finding.image_sha256)
        insert_finding(self.database, finding)

    def _add_image(self, name: str, content: bytes, digest: str) -> None:
        """Write one of the run's pictures, and make sure that what is on the disk is what was meant."""
        path = self.layout.picture(name)
        if hashlib.sha256(content).hexdigest() != digest:
            raise StoreError(f"the content of '{name}' is not what its finding says", "run the same command to go on")
        write_new(path, content)

    def add_outcome(self, outcome: Outcome, memory: State | None = None) -> None:
        """How an attempt ended; its checkpoint goes. Inside a transaction."""
        insert(self.database, "outcomes", outcome_row(outcome))
        key = (outcome.arm, outcome.attempt)
        self.database.execute("DELETE FROM checkpoints WHERE arm = ? AND attempt = ?", key)
        if memory is not None:
            row = {"arm": outcome.arm, "attempt": outcome.attempt, "state": _packed(memory)}
            insert(self.database, "memories", row)

    def add_checkpoints(self, arm: Arm, states: Mapping[int, State]) -> None:
        """The states of unfinished searches, by attempt; inside a transaction."""
        insert(self.database, "facts", {"name": "heartbeat", "value": now()})
        for attempt, state in states.items():
            insert(self.database, "checkpoints", {"arm": arm, "attempt": attempt, "state": _packed(state)})

    def add_note(self, text: str) -> None:
        """Something that happened to the run, with the time; inside a transaction."""
        notes = self.database.execute("SELECT value FROM facts WHERE name = 'notes'").fetchone()
        said = [*(json.loads(notes[0]) if notes else []), f"{now()} {text}"]
        insert(self.database, "facts", {"name": "notes", "value": json.dumps(said)})

    def memories(self, arm: Arm) -> list[State]:
        """What the ended searches of the wave under way remember, in order of attempt."""
        with database_errors(self.layout.database):
            query = "SELECT state FROM memories WHERE arm = ? ORDER BY attempt"
            return [load_tensors(row[0]) for row in self.database.execute(query, (arm,)).fetchall()]

    def share(self, arm: Arm, wave: int, state: State) -> None:
        """What a wave shares, made of the memories of those before it: they go."""
        with self.transaction():
            insert(self.database, "shared", {"arm": arm, "wave": wave, "state": _packed(state)})
            self.database.execute("DELETE FROM memories WHERE arm = ?", (arm,))
            self.database.execute("DELETE FROM shared WHERE arm = ? AND wave < ?", (arm, wave))

    def shared(self, arm: Arm) -> tuple[int, State] | None:
        """The wave under way and what it shares."""
        with database_errors(self.layout.database):
            query = "SELECT wave, state FROM shared WHERE arm = ? ORDER BY wave DESC LIMIT 1"
            row = self.database.execute(query, (arm,)).fetchone()
        return (row[0], load_tensors(row[1])) if row else None

    def checkpoint(self, arm: Arm, attempt: int) -> State | None:
        """The saved state of an unfinished search."""
        with database_errors(self.layout.database):
            row = self.database.execute(
                "SELECT state FROM checkpoints WHERE arm = ? AND attempt = ?", (arm, attempt)
            ).fetchone()
        return load_tensors(row[0]) if row else None


def _packed(state: State) -> bytes:
    """Tensors by name as bytes; by way of numpy, which takes a third of the time for many small ones."""
    content: bytes = save_arrays({name: value.numpy() for name, value in state.items()})
    return content
