"""The run folder: the truth about a run, readable by anyone while it is written."""

from foible.store.reader import Run, open_run
from foible.store.writer import RunWriter

__all__ = ["Run", "RunWriter", "open_run"]
