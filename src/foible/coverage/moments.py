"""Mean and scatter in one pass, mergeable: Chan, Golub and LeVeque, The American Statistician 37 (1983)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Moments(NamedTuple):
    """Of some rows: how many, their mean, and the sum of their squared deviations or of the products of them."""

    total: Tensor  # (...)
    mean: Tensor  # (..., D)
    scatter: Tensor  # (..., D) or (..., D, D)

    def merged(self, other: Moments) -> Moments:
        """The moments of both sets of rows; the order of the two does not matter."""
        total = self.total + other.total
        safe = total.clamp_min(1).unsqueeze(-1)
        mean = (self.mean * self.total.unsqueeze(-1) + other.mean * other.total.unsqueeze(-1)) / safe
        apart = self.mean - other.mean
        weight = (self.total * other.total).unsqueeze(-1) / safe
        if self.scatter.ndim > self.mean.ndim:
            product = weight.unsqueeze(-1) * apart.unsqueeze(-1) * apart.unsqueeze(-2)
        else:
            product = weight * apart.square()
        return Moments(total, mean, self.scatter + other.scatter + product)


def nothing(*shape: int, joint: bool = False) -> Moments:
    """The moments of no rows, for means of a shape (..., D)."""
    zeros = torch.zeros(shape, dtype=torch.float64)
    scatter = torch.zeros(*shape, shape[-1], dtype=torch.float64) if joint else zeros.clone()
    return Moments(torch.zeros(shape[:-1], dtype=torch.float64), zeros, scatter)


def of_rows(rows: Tensor, joint: bool = False) -> Moments:
    """The moments of rows (N, D); with `joint`, products of all pairs of columns."""
    exact = rows.detach().to(torch.float64)
    if not len(exact):
        return nothing(exact.shape[1], joint=joint)
    mean = exact.mean(0)
    apart = exact - mean
    scatter = apart.T @ apart if joint else apart.square().sum(0)
    return Moments(torch.tensor(float(len(exact)), dtype=torch.float64), mean, scatter)
