"""Pencil-sized profiles and suites, and random ones."""

import pytest
import torch

from foible.coverage import Scope, fitted, from_values


def make(values, widths=None, predicted=None, **facts):
    """A batch from a list of rows; one layer unless widths are given."""
    rows = torch.as_tensor(values, dtype=facts.pop("dtype", torch.float32))
    widths = widths or (rows.shape[1],)
    scope = facts.pop("scope", None) or Scope(tuple("abcdef"[: len(widths)]), tuple(widths), **facts)
    return from_values(rows, scope, None if predicted is None else torch.as_tensor(predicted))


@pytest.fixture
def profiled():
    """A function: the profile of a list of rows."""

    def fit(values, widths=None, predicted=None, **facts):
        return fitted([make(values, widths, predicted, **facts)])

    return fit


WIDTHS = (4, 6, 3)


def random_rows(count, seed, scale=1.0, dtype=torch.float32):
    rng = torch.Generator().manual_seed(seed)
    classes = torch.randint(0, 3, (count,), generator=rng)
    values = scale * torch.randn(count, sum(WIDTHS), generator=rng, dtype=dtype)
    values[:, 4:10] += classes[:, None].to(dtype)
    return values, classes


def random_batch(count, seed, scale=1.0, dtype=torch.float32):
    values, classes = random_rows(count, seed, scale, dtype)
    return make(values, WIDTHS, classes, classes=3, dtype=dtype)


@pytest.fixture(scope="session")
def ordinary():
    """A profile of 300 random inputs of three classes."""
    return fitted([random_batch(300, 1)])


@pytest.fixture(scope="session")
def exact():
    """The same in double precision."""
    return fitted([random_batch(300, 1, dtype=torch.float64)])
