"""What reaches a terminal is text: escape codes in file names, messages and what models print are shown, not obeyed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from foible.plain import plain

if TYPE_CHECKING:
    from rich.console import Console


WIDE = 500  # columns


class PlainStream:
    """A text stream that lets only plain text through."""

    def __init__(self, stream: TextIO) -> None:
        self.raw = stream

    def write(self, text: str) -> int:
        """Write text, with what a terminal would act on written out."""
        self.raw.write(plain(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


@contextmanager
def plain_streams() -> Iterator[None]:
    """While inside, standard output and error show plain text only, whoever prints."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (s if isinstance(s, PlainStream) else PlainStream(s) for s in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def console(stderr: bool = False, **options: Any) -> Console:
    """A console for bars and tables of our own, which may use colours: hand it plain texts only."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    if not stream.isatty():
        options.setdefault("width", WIDE)  # a pipe has no edge: nothing is cut
    return Console(file=stream.raw if isinstance(stream, PlainStream) else stream, **options)


def tell(quiet: bool) -> None:
    """Show what foible says about what it is doing, unless all is to be quiet."""
    logger = logging.getLogger("foible")
    logger.setLevel(logging.WARNING if quiet else logging.INFO)
    if not logger.handlers:
        logger.addHandler(_Speaker())
    logger.propagate = False


class _Speaker(logging.Handler):
    """Prints to standard error as it is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one message."""
        print(self.format(record), file=sys.stderr, flush=True)
