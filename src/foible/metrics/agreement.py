"""How far people agree beyond chance: Cohen's kappa.

Cohen, Educational and Psychological Measurement 20 (1960): kappa = (p_o - p_e) / (1 - p_e), where p_o is the share of
items on which two people agree and p_e the share expected if each answered at random with their own frequencies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True)
class Agreement:
    """Two people on the items both have answered; `share` and `kappa` are None where they are not defined."""

    first: str
    second: str
    items: int
    share: float | None
    kappa: float | None


def agreement(first: str, second: str, ours: Mapping[Item, int], theirs: Mapping[Item, int]) -> Agreement:
    """Compare two people's answers, given as item -> answer."""
    shared = ours.keys() & theirs.keys()
    if not shared:
        return Agreement(first, second, 0, None, None)
    pairs = [(ours[item], theirs[item]) for item in shared]
    share = sum(a == b for a, b in pairs) / len(pairs)
    return Agreement(first, second, len(pairs), share, cohen_kappa(pairs))


def cohen_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Kappa of paired answers; None when chance alone would explain full agreement.

    >>> cohen_kappa([("a", "a"), ("a", "a"), ("b", "b"), ("b", "a")])
    0.5
    """
    total = len(pairs)
    ours, theirs = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    observed = sum(a == b for a, b in pairs) / total
    expected = sum(ours[answer] * theirs[answer] for answer in ours) / total**2
    return None if expected == 1 else (observed - expected) / (1 - expected)
