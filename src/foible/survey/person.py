"""Who took part, and with how much attention."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized

from pydantic import BaseModel, ConfigDict

from foible.metrics import Rate, rate
from foible.store.answers import CheckAnswer


class Frozen(BaseModel):
    """A value that can be written as JSON."""

    model_config = ConfigDict(frozen=True)


class Person(Frozen):
    """How much one person did; no answers but checks: they were left out."""

    name: str
    answers: int
    checks: Rate


def people(said: Mapping[str, Sized], checks: Iterable[CheckAnswer]) -> tuple[Person, ...]:
    """Everybody who has answered for a finding or a check, by name."""
    right: dict[str, list[bool]] = {}
    for check in checks:
        right.setdefault(check.person, []).append(check.right)
    return tuple(
        Person(name=name, answers=len(said.get(name, ())), checks=rate(sum(mine), len(mine)))
        for name in sorted({*said, *right})
        for mine in [right.get(name, [])]
    )
