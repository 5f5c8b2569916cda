"""What visitors need not know: where on the server's disk their files are."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import foible


@dataclass(frozen=True)
class Discretion:
    """Takes the folders of this machine out of messages: of a path only the name at its end is left."""

    roots: tuple[str, ...]

    @classmethod
    def about(cls, *folders: Path) -> Discretion:
        """Keep these folders to oneself, and those of every machine: temporary files, home, installed packages."""
        usual = (
            Path(tempfile.gettempdir()),
            Path.home(),
            Path(foible.__file__).parents[1],
            Path(tempfile.__file__).parent,
        )
        told = {str(p) for folder in (*folders, *usual) for p in (folder.absolute(), folder.resolve())} - {"/"}
        return cls(tuple(sorted(told, key=len, reverse=True)))

    def __call__(self, text: str) -> str:
        """The text with paths below these folders cut to their last part."""
        if not any(root in text for root in self.roots):
            return text
        starts = "|".join(map(re.escape, self.roots))
        return re.sub(rf"(?:{starts})(?:/[^\s'\"/]*)*", lambda found: _last(found.group()), text)


def _last(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2]
    return name or "a folder of the server"
