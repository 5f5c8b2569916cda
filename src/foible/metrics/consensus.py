"""How far many people agree beyond chance, on items that not everybody has answered.

Both coefficients are 1 - D_o / D_e, observed over expected disagreement, and read the same table: ballots (items,
answers), how often each answer was given to each item. Who gave it does not matter.

Fleiss' kappa. Fleiss, Psychological Bulletin 76 (1971): every item has the same number of answers n.
  P_i = sum_j n_ij (n_ij - 1) / (n (n - 1)),  p_j = share of answer j,  kappa = (mean P_i - sum p_j^2) / (1 - sum p_j^2).
Krippendorff's alpha, nominal. Krippendorff, Content Analysis (2004), chapter 11: items may lack answers; those with
fewer than two are left out. With n_i answers to item i and n in all that can be paired,
  D_o = sum_i (n_i^2 - sum_j n_ij^2) / (n_i - 1) / n,  D_e = (n^2 - sum_j n_j^2) / (n (n - 1)).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

Ballots = NDArray[np.int64]


def ballots(by_person: Iterable[Mapping[int, Hashable]]) -> Ballots:
    """The table (items, answers) of everybody's answers, given as item -> answer for each person."""
    people = list(by_person)
    rows = {item: k for k, item in enumerate(sorted({item for mine in people for item in mine}))}
    columns = {answer: k for k, answer in enumerate(dict.fromkeys(a for mine in people for a in mine.values()))}
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


def krippendorff_alpha(table: Ballots) -> float | None:
    """Nominal alpha; None when no item has two answers or only one answer was ever given."""
    table = table[table.sum(1) >= 2]
    answers, total = table.sum(1), int(table.sum())
    expected = total**2 - int((table.sum(0) ** 2).sum())
    if expected == 0:
        return None
    observed = float(((answers**2 - (table**2).sum(1)) / np.maximum(answers - 1, 1)).sum())
    return 1 - (total - 1) * observed / expected
