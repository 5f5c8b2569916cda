"""What ratings of two classes say about an image that stands between them.

Kang et al., SINVAD (2020, extended 2024): people say on a scale of 1 (not at all) to 5 (clearly) how far an image looks
like the class it came from (source) and like the class it is taken for (target).
"""

from __future__ import annotations

LOWEST, HIGHEST = 1, 5


def confusion_score(source: int, target: int) -> int:
    """5 - |target - source|, from 1 (clearly one of the two) to 5 (as much the one as the other).

    >>> confusion_score(5, 1), confusion_score(3, 3)
    (1, 5)
    """
    _refuse_off_scale(source, target)
    return HIGHEST - abs(target - source)


def acceptability(source: int, target: int) -> int:
    """source + target, from 2 (looks like neither) to 10 (clearly looks like both).

    >>> acceptability(5, 1)
    6
    """
    _refuse_off_scale(source, target)
    return source + target


def bias(source: int, target: int) -> int:
    """source - target, from -4 (only the target) to 4 (only the source); 0 is balanced."""
    _refuse_off_scale(source, target)
    return source - target


def _refuse_off_scale(*ratings: int) -> None:
    for rating in ratings:
        if not LOWEST <= rating <= HIGHEST:
            raise ValueError(f"a rating lies between {LOWEST} and {HIGHEST}, got {rating}")
