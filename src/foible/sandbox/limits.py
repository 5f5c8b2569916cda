"""What a worker may use, and what must hold before it opens an untrusted file."""

from __future__ import annotations

from dataclasses import dataclass

from foible.errors import RecipeError

MOST = 1e9  # of anything: more is no limit at all
NEEDED = frozenset({"network", "files", "memory"})
"""Without these a worker is a separate process but no sandbox."""

MEANING = {
    "network": "no network",
    "files": "reads only its own file and installed software, writes only in its scratch folder",
    "processes": "starts no other process",
    "memory": "limited memory",
    "cpu": "limited CPU time",
    "wall": "limited time for each call",
}


@dataclass(frozen=True)
class Limits:
    """What a worker may use.

    Attributes:
        memory_gb: memory on top of what torch itself takes.
        call_seconds: for one batch of images.
        load_seconds: for starting and opening the file.
        cpu_seconds: of all threads together, over the worker's whole life.
        scratch_mb: on disk.
    """

    memory_gb: float = 4.0
    call_seconds: float = 60.0
    load_seconds: float = 240.0
    cpu_seconds: float = 48 * 3600.0
    scratch_mb: float = 256.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MOST:
                raise RecipeError(
                    f"limit {name} = {value} is not a number above 0 and below {MOST:g}",
                    "leave it out for the usual one, or raise it: --limit memory_gb=8",
                )


def lacking(active: dict[str, str]) -> list[str]:
    """The needed protections that are not active."""
    return sorted(NEEDED - set(active))


def stated(active: dict[str, str]) -> str:
    """The active protections in words, with what enforces each."""
    return "; ".join(f"{MEANING[name]} ({how})" for name, how in active.items() if name in MEANING)
