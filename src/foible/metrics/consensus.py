"""How far many people agree beyond chance, on items that not everybody has answered.

Both coefficients are 1 - D_o / D_e, observed over expected disagreement, and read the same table: ballots (items,
answers), how often each answer was given to each item. Who gave it does not matter.

Fleiss' kappa. Fleiss, Psychological Bulletin 76 (1971): every item has the same number of answers n.
  P_i = sum_j n_ij (n_ij - 1) / (n (n - 1)),  p_j = share of answer j,  kappa = (mean P_i - sum p_j^2) / (1 - sum p_j^2).
Krippendorff's alpha. Krippendorff, Content Analysis (2004), chapter 11: items may lack answers; those with fewer than
two are left out. With n_i answers to item i, n in all that can be paired, and d_jk how far answers j and k are apart,
  D_o = sum_i sum_jk n_ij n_ik d_jk / (n_i - 1) / n,  D_e = sum_jk n_j n_k d_jk / (n (n - 1)).
  nominal: d_jk = 1 for j != k.  ordinal: d_jk = (n_j / 2 + the answers that rank between j and k + n_k / 2)^2.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ballots = NDArray[np.int64]
Level = Literal["nominal", "ordinal"]


def ballots(by_person: Iterable[Mapping[Any, Hashable]], answers: Iterable[Hashable] = ()) -> Ballots:
    """The table (items, answers) of everybody's answers, given as item -> answer for each person.

    Its columns are `answers` in their order, then all others as they come.
    """
    people = list(by_person)
    given = [answer for mine in people for answer in mine.values()]
    rows = {item: k for k, item in enumerate(sorted({item for mine in people for item in mine}))}
    columns = {answer: k for k, answer in enumerate(dict.fromkeys([*answers, *given]))}
    table = np.zeros((len(rows), len(columns)), dtype=np.int64)
    for mine in people:
        for item, answer in mine.items():
            table[rows[item], columns[answer]] += 1
    return table


def fleiss_kappa(table: Ballots) -> float | None:
    """Kappa of items that all have the same number of answers; None where it is not defined."""
    answers = table.sum(1)
    if len(table) == 0 or answers[0] < 2:
        return None
    if (answers != answers[0]).any():
        raise ValueError("Fleiss' kappa needs the same number of answers to every item")
    n = int(answers[0])
    observed = float((table * (table - 1)).sum(1).mean() / (n * (n - 1)))
    expected = float(((table.sum(0) / table.sum()) ** 2).sum())
    return None if expected == 1 else (observed - expected) / (1 - expected)


def krippendorff_alpha(table: Ballots, level: Level = "nominal") -> float | None:
    """Alpha; None when no item has two answers or only one answer was ever given.

    Args:
        table: the ballots.
        level: "nominal" for answers without an order, "ordinal" where the columns rank from low to high.
    """
    table = table[table.sum(1) >= 2]
    often, total = table.sum(0), int(table.sum())
    apart = _ranks_apart(often) if level == "ordinal" else 1.0 - np.eye(len(often))
    expected = float(often @ apart @ often)
    if expected == 0:
        return None
    observed = float((((table @ apart) * table).sum(1) / (table.sum(1) - 1)).sum())
    return 1 - (total - 1) * observed / expected


def _ranks_apart(often: NDArray[np.int64]) -> NDArray[np.float64]:
    """The squared distances between the middles of the ranks that each answer takes up."""
    middle = often.cumsum() - often / 2
    return np.asarray((middle[:, None] - middle[None, :]) ** 2, dtype=np.float64)
