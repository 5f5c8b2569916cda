"""What a user says of a run: a title of their own and notes. Kept beside the run, which itself is never touched."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from foible.errors import RecipeError
from foible.files import write_whole
from foible.store.layout import Layout

LONGEST_TITLE, LONGEST_NOTES = 120, 5000  # characters


@dataclass(frozen=True)
class Memo:
    """A title and notes; empty where nothing was said."""

    title: str = ""
    notes: str = ""


def read_memo(layout: Layout) -> Memo:
    """What was said of a run."""
    try:
        if _file(layout).is_symlink():
            return Memo()
        facts = json.loads(_file(layout).read_text(encoding="utf-8"))
        return Memo(str(facts["title"])[:LONGEST_TITLE], str(facts["notes"])[:LONGEST_NOTES])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Memo()


def write_memo(layout: Layout, title: str, notes: str) -> None:
    """Note what a user says of a run."""
    title = " ".join(title.split())
    if len(title) > LONGEST_TITLE or len(notes) > LONGEST_NOTES:
        raise RecipeError(
            f"a title has at most {LONGEST_TITLE} characters and notes {LONGEST_NOTES:,}", "say it in fewer words"
        )
    write_whole(_file(layout), json.dumps(asdict(Memo(title, notes.strip())), ensure_ascii=False) + "\n")


def _file(layout: Layout) -> Path:
    return layout.folder / "memo.json"
