"""The one process that writes a run."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from foible.errors import RecipeError, StoreError
from foible.files import disk_errors
from foible.store.database import connect, database_errors, finding_row, insert, outcome_row
from foible.store.images import write_png
from foible.store.layout import Layout
from foible.store.manifest import Manifest, differences, now, read_manifest, write_manifest
from foible.types import Arm, Finding, Images, Outcome


class RunWriter:
    """Creates a run folder or goes on with an existing one; refuses a folder made by another recipe."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.layout = Layout(folder)
        with disk_errors(folder):
            if folder.exists() and not folder.is_dir():
                raise RecipeError(f"--out '{folder}' is a file", "name a folder")
            self.layout.images.mkdir(parents=True, exist_ok=True)
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
        except BaseException:
            self._lock.release()
            raise

    def _settle(self, manifest: Manifest) -> Manifest:
        if not self.layout.manifest.exists():
            write_manifest(self.layout, manifest)
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
        """Note how far the run is, for whoever watches it; only the latest note is kept."""
        self.set_fact("progress", json.dumps(progress))

    def done(self, arm: Arm) -> set[int]:
        """Attempts that have an outcome."""
        with database_errors(self.layout.database):
            rows = self.database.execute("SELECT attempt FROM outcomes WHERE arm = ?", (arm,)).fetchall()
        return {r[0] for r in rows}

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
            self.set_fact("state", state)

    def save_image(self, name: str, image: Images) -> tuple[Path, str]:
        """Write one PNG into the run; gives its path and sha256."""
        path = self.layout.images / name
        return path, write_png(path, image)

    def record(self, outcomes: Iterable[Outcome], findings: Iterable[Finding] = ()) -> None:
        """Commit what became of some attempts, all or nothing; their checkpoints go."""
        with database_errors(self.layout.database), self.database:
            for finding in findings:
                insert(self.database, "findings", finding_row(finding))
            for outcome in outcomes:
                insert(self.database, "outcomes", outcome_row(outcome))
                self.database.execute(
                    "DELETE FROM checkpoints WHERE arm = ? AND attempt = ?", (outcome.arm, outcome.attempt)
                )

    def save_checkpoints(self, arm: Arm, states: Mapping[int, dict[str, Tensor]]) -> None:
        """Commit the state of unfinished searches, by attempt."""
        with database_errors(self.layout.database), self.database:
            insert(self.database, "facts", {"name": "heartbeat", "value": now()})
            for attempt, state in states.items():
                insert(self.database, "checkpoints", {"arm": arm, "attempt": attempt, "state": save_tensors(state)})

    def checkpoint(self, arm: Arm, attempt: int) -> dict[str, Tensor] | None:
        """The saved state of an unfinished search."""
        with database_errors(self.layout.database):
            row = self.database.execute(
                "SELECT state FROM checkpoints WHERE arm = ? AND attempt = ?", (arm, attempt)
            ).fetchone()
        return load_tensors(row[0]) if row else None
