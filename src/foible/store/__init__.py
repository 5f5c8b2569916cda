"""The run folder: the truth about a run, readable by anyone while it is written."""

from typing import TYPE_CHECKING

from foible.late import on_first_use
from foible.store.reader import Run, open_run

if TYPE_CHECKING:
    from foible.store.writer import RunWriter

__all__ = ["Run", "RunWriter", "open_run"]

__getattr__ = on_first_use(__name__, {"RunWriter": "foible.store.writer"})  # it needs torch, which readers do not
