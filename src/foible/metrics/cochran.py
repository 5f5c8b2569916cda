"""Several treatments of the same origins: is any of them better? Cochran's Q, McNemar's test for more than two.

Cochran, Biometrika 37 (1950). With k treatments, column totals G_j, row totals L_i and N successes in all,
Q = (k - 1) (k sum G_j^2 - N^2) / (k N - sum L_i^2), which for many origins follows chi-square with k - 1 degrees.
Origins that all or none of the treatments solve do not change Q.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class CochranQ:
    """The statistic, its degrees of freedom, and how often equals would differ this much."""

    origins: int
    statistic: float
    degrees: int
    p_value: float


def cochran_q(solved: ArrayLike) -> CochranQ:
    """Test a table (origins, treatments) of what each treatment solved."""
    table = np.asarray(solved, dtype=bool).astype(np.int64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"Cochran's Q needs a table (origins, two or more treatments), got shape {table.shape}")
    origins, k = table.shape
    columns, rows, total = table.sum(0), table.sum(1), int(table.sum())
    spread = k * total - int((rows**2).sum())
    if spread == 0:
        return CochranQ(origins, 0.0, k - 1, 1.0)
    from scipy.special import chdtrc

    statistic = (k - 1) * (k * int((columns**2).sum()) - total**2) / spread
    return CochranQ(origins, statistic, k - 1, float(chdtrc(k - 1, statistic)))
