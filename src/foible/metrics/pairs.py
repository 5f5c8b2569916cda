"""Which class is taken for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class ClassPair:
    """How often images of class `label` were taken for class `predicted`."""

    label: int
    predicted: int
    count: int


class Confused(Protocol):
    """Whatever knows an expected class and the one it was taken for: a finding, or its line in the index."""

    @property
    def label(self) -> int:
        """The expected class."""
        ...

    @property
    def predicted(self) -> int:
        """What the classifier said."""
        ...


def class_pairs(findings: Iterable[Confused]) -> tuple[ClassPair, ...]:
    """The confusions among some findings, most frequent first; ties in order of class."""
    counts = Counter((f.label, f.predicted) for f in findings)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ClassPair(label, predicted, count) for (label, predicted), count in ordered)
