"""The runs folder as the pages see it. A run is addressed by its name; no path from a browser is ever used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from foible.errors import RecipeError, StoreError, did_you_mean
from foible.store import Run, open_run
from foible.store.layout import Layout
from foible.ui.studies import FILE as STUDY

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True)
class Shelf:
    """All runs in one folder."""

    folder: Path

    def layout(self, name: str) -> Layout:
        """Where a run of this name is, or would be."""
        if not NAME.fullmatch(name) or ".." in name:
            raise RecipeError(
                f"'{name[:80]}' cannot be the name of a run",
                "use letters, digits, dots, dashes and underscores, a letter or digit first",
            )
        return Layout(self.folder / name)

    def names(self) -> list[str]:
        """All runs, the latest first."""
        if not self.folder.is_dir():
            return []
        marks = [
            mark
            for child in self.folder.iterdir()
            if NAME.fullmatch(child.name) and child.is_dir()
            for mark in [_mark(child)]
            if mark is not None
        ]
        return [m.parent.name for m in sorted(marks, key=lambda m: m.stat().st_mtime, reverse=True)]

    def existing(self, name: str) -> Layout:
        """Where a run that exists is."""
        layout = self.layout(name)
        if _mark(layout.folder) is None:
            raise StoreError(f"there is no run called '{name}'", did_you_mean(name, self.names()))
        return layout

    def free_name(self, wanted: str) -> str:
        """This name, or the first of name-2, name-3, ... that is not taken."""
        taken = set(self.names())
        return next(n for k in range(1, 10_000) if (n := wanted if k == 1 else f"{wanted}-{k}") not in taken)

    @contextmanager
    def open(self, name: str) -> Iterator[Run]:
        """A run opened for reading, closed again afterwards."""
        run = open_run(self.existing(name).folder)
        try:
            yield run
        finally:
            run.database.close()


def _mark(folder: Path) -> Path | None:
    """The file by which a folder is known as a run: its manifest, or what it is being started from."""
    marks = (folder / name for name in ("manifest.json", "recipe.toml", STUDY))
    return next((p for p in marks if p.is_file()), None)
