"""One base error: a message that says what is wrong, and a hint that says what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST_NAMES = 12  # of a hint


class FoibleError(Exception):
    """Something the user can put right: `message` names the subject, `hint` the next step."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross processes; a child may take other arguments than these.
        return _copied, (type(self), self.message, self.hint), self.__dict__

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


def _copied(kind: type[FoibleError], message: str, hint: str) -> FoibleError:
    error = kind.__new__(kind)
    FoibleError.__init__(error, message, hint)
    return error


class RecipeError(FoibleError):
    """A recipe, a component name or a parameter is wrong."""


class DataError(FoibleError):
    """Real images are missing, unreadable, or not what the domain says."""


class ModelError(FoibleError):
    """A generator or classifier cannot be loaded, or does not do what it must."""


class CheckError(FoibleError):
    """The checks before a run found that it would be meaningless."""


class StoreError(FoibleError):
    """A run folder cannot be read or written; what was found before is still there."""

    exit_code = 3


class MissingExtra(FoibleError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package '{package}', which is not installed", f'pip install "foible[{extra}]"'
        )


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that offers the closest known names, or lists them when none is close: all that a reader would read."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(f"'{c}'" for c in close) + "?"
    if not names:
        return "nothing is registered under that heading"
    more = f" and {len(names) - MOST_NAMES:,} more, see `foible ls`" if len(names) > MOST_NAMES + 1 else ""
    return "known: " + ", ".join(names[:MOST_NAMES] if more else names) + more
