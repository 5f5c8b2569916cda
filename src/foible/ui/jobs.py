"""Runs as processes: started apart from the page, found again from the runs folder, stopped by a signal.

The page owns nothing. A run goes on when the page is reloaded, closed or killed; `foible resume` on the command line and
the button on the page do the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import tomli_w
from filelock import FileLock, Timeout

from foible.errors import RecipeError, StoreError
from foible.files import disk_errors, write_whole
from foible.plain import plain
from foible.store.layout import Layout, no_links_outside
from foible.store.seal import seal, sealed
from foible.ui.discretion import Discretion
from foible.ui.shelf import Shelf
from foible.ui.studies import Study, made_here, read_study, study_file, write_study

_turn = threading.Lock()  # one run is begun at a time
AT_ONCE = 2  # runs that may be going at the same time
LONGEST_LOG = 40_000  # bytes shown of what a process has said
POLITE = 2  # how far runs step back for the page: both want the same cores


@dataclass(frozen=True)
class Jobs:
    """Starts, finds and stops the processes of one runs folder."""

    shelf: Shelf
    discreet: Discretion = field(default_factory=Discretion.about)

    def start(self, name: str, recipe: Mapping[str, Any]) -> None:
        """Begin a new run: its folder holds the recipe first, then whatever the process writes."""
        layout = self._new(name)
        write_whole(_recipe(layout), tomli_w.dumps(recipe))
        seal(_recipe(layout))
        self._launch_or_wait(layout)

    def ask(self, name: str, study: Study) -> None:
        """Begin to answer a question that another verb than `run` answers."""
        layout = self._new(name)
        write_study(layout, study)
        self._launch_or_wait(layout)

    def _new(self, name: str) -> Layout:
        """The folder of a new run."""
        layout = self.shelf.layout(name)
        if name in self.shelf.names():
            raise RecipeError(f"there is a run called '{name}' already", "choose another name")
        with disk_errors(layout.folder):
            layout.folder.mkdir(parents=True, exist_ok=True)
        return layout

    def remove(self, name: str) -> None:
        """Delete a run with all its files; one that is going is refused."""
        layout = self.shelf.existing(name)
        if self.going(name):
            raise StoreError(f"run '{name}' is going", "stop it first")
        if layout.folder.is_symlink():
            raise StoreError(f"run '{name}' is a link to somewhere else", "remove the link itself")
        with disk_errors(layout.folder):
            shutil.rmtree(layout.folder)

    def go_on(self, name: str) -> None:
        """Take up a run where it stopped."""
        layout = self.shelf.existing(name)
        if self.going(name):
            raise StoreError(f"run '{name}' is going already", "wait for it or stop it")
        if study_file(layout).exists():
            if not made_here(layout):
                raise StoreError(f"run '{name}' was not asked for by this workbench", "ask the question anew")
        elif not layout.manifest.exists() and not sealed(_recipe(layout)):
            raise StoreError(
                f"run '{name}' has not begun, and its recipe was not written by this workbench",
                f"look at {name}/recipe.toml; start it with foible run if you trust it",
            )
        self._launch_or_wait(layout)

    def stop(self, name: str) -> None:
        """Ask a run to stop; what it has found stays, and it can go on later."""
        layout = self.shelf.existing(name)
        if _noted(layout).get("waiting"):
            _note(layout).unlink()
            return
        process = process_of(layout)
        if process is None:
            raise StoreError(
                f"run '{name}' was not started from this workbench", "stop it where it was started, with Ctrl-C"
            )
        _note(layout).write_text(json.dumps({"process": process, "stopping": True}))
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGINT)

    def going(self, name: str) -> bool:
        """Whether some process is working on this run."""
        layout = self.shelf.existing(name)
        return process_of(layout) is not None or _locked(layout)

    def seconds(self, name: str) -> float:
        """How long ago the process of this run was started."""
        note = _note(self.shelf.existing(name))
        return max(0.0, time.time() - note.stat().st_mtime) if note.is_file() else 0.0

    def complaint(self, name: str) -> str:
        """The last words of a process that ended with an error; empty when there are none."""
        return "" if study_file(self.shelf.existing(name)).exists() else self.log(name, 2000)

    def log(self, name: str, longest: int = LONGEST_LOG) -> str:
        """What the process of a run has said, its end where it is long."""
        layout = self.shelf.existing(name)
        no_links_outside(layout.folder)
        log = _log(layout)
        words = log.read_bytes()[-longest:].decode(errors="replace").strip() if log.is_file() else ""
        return plain(self.discreet(words))

    def place(self, name: str) -> int:
        """Where a run stands among those that wait, from 1; 0 where it does not wait."""
        queue = [layout.folder.name for layout in self._queue()]
        return queue.index(name) + 1 if name in queue else 0

    def waiting(self, name: str) -> bool:
        """Whether a run begins as soon as another one ends."""
        return bool(_noted(self.shelf.existing(name)).get("waiting"))

    def stopping(self, name: str) -> bool:
        """Whether a run was asked to stop and has not ended yet."""
        return bool(_noted(self.shelf.existing(name)).get("stopping"))

    def can_stop(self, name: str) -> bool:
        """Whether this workbench can stop a run: it has started its process, or not yet."""
        return self.waiting(name) or process_of(self.shelf.existing(name)) is not None

    def advance(self) -> None:
        """Begin the runs that wait, the first come first, as long as there is room."""
        with _turn:
            for layout in self._queue():
                if not self._has_room():
                    return
                self._launch(layout)

    def _queue(self) -> list[Layout]:
        """The runs that wait, the first come first."""
        waiting = [(float(_noted(q).get("waiting", 0)), q) for q in map(self.shelf.layout, self.shelf.names())]
        return [layout for since, layout in sorted(waiting, key=lambda pair: pair[0]) if since]

    def _has_room(self) -> bool:
        going = [n for n in self.shelf.names() if process_of(self.shelf.layout(n)) is not None]
        return len(going) < AT_ONCE

    def _launch_or_wait(self, layout: Layout) -> None:
        with _turn:
            if self._has_room():
                self._launch(layout)
            else:
                write_whole(_note(layout), json.dumps({"waiting": time.time()}))

    def _launch(self, layout: Layout) -> None:
        study = read_study(layout)
        if study is not None:
            words = list(study.words)
        elif layout.manifest.exists():
            words = ["resume", str(layout.folder), "--quiet"]
        else:
            words = ["run", str(_recipe(layout)), "--out", str(layout.folder), "--quiet"]
        with disk_errors(layout.folder), _log(layout).open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "foible", *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            _note(layout).write_text(json.dumps({"process": process.pid}))
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, POLITE)
        until = time.monotonic() + 2  # a process has no command for a moment after it was started
        while not any(_command_of(process.pid)) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        threading.Thread(target=process.wait, daemon=True).start()  # leaves no zombie behind


def _noted(layout: Layout) -> dict[str, Any]:
    """What was noted about the process of a run."""
    try:
        facts = json.loads(_note(layout).read_text())
        return facts if isinstance(facts, dict) and isinstance(facts.get("waiting", 0), int | float) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def process_of(layout: Layout) -> int | None:
    """The living process that was started for a run; a number that now belongs to another process does not count."""
    try:
        process = int(_noted(layout)["process"])
    except (ValueError, KeyError, TypeError):
        return None
    words = _command_of(process)
    named = (layout.folder.name in Path(word).parts[-2:] for word in words)
    return process if "foible" in words and any(named) else None


def _command_of(process: int) -> list[str]:
    """The words of a process's command; none when it is gone or not ours to see."""
    try:
        return list(psutil.Process(process).cmdline())
    except (psutil.Error, ValueError, OverflowError):  # a note may hold any number
        return []


def _locked(layout: Layout) -> bool:
    """Whether a process, started anywhere, is writing this run."""
    if not layout.lock.exists():
        return False
    try:
        with FileLock(layout.lock, timeout=0):
            return False
    except Timeout:
        return True


def _recipe(layout: Layout) -> Path:
    return layout.folder / "recipe.toml"


def _note(layout: Layout) -> Path:
    return layout.folder / "job.json"


def _log(layout: Layout) -> Path:
    return layout.folder / "log.txt"
