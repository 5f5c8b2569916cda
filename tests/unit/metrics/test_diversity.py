"""Sets of vectors whose diversity can be worked out on paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from foible.metrics.diversity import (
    distinct,
    effective_kinds,
    exact_distinct,
    geometric_diversity,
    log_volume,
    neighbour_distances,
)
from foible.metrics.published_diversity import published_geometric_diversity, published_shannon


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_volume_of_a_box_and_of_a_sheared_one() -> None:
    assert log_volume(torch.eye(3) * 2) == pytest.approx(6 * math.log(2))
    assert log_volume(torch.tensor([[1.0, 0.0], [5.0, 0.1]])) == pytest.approx(2 * math.log(0.1), rel=1e-5)


def test_volume_is_the_log_determinant() -> None:
    features = torch.randn(20, 50, generator=seeded(0))
    sign, expected = np.linalg.slogdet((features @ features.T).double().numpy())
    assert sign == 1 and log_volume(features) == pytest.approx(expected, rel=1e-4)


def test_dependent_images_span_nothing() -> None:
    features = torch.randn(5, 9, generator=seeded(0))
    assert log_volume(torch.cat([features, features[:1]])) == -math.inf, "a duplicate"
    assert log_volume(features.T) == -math.inf, "more images than features"
    assert log_volume(features[:0]) == 0


def test_the_sign_tells_a_tight_set_from_a_wide_one() -> None:
    wide = torch.randn(10, 40, generator=seeded(1))
    tight = wide[:1] + 1e-3 * torch.randn(10, 40, generator=seeded(2))
    assert log_volume(tight) < 0 < log_volume(wide)
    assert published_geometric_diversity(tight) > published_geometric_diversity(wide), "why the published one misleads"
    assert published_geometric_diversity(torch.ones(3, 4)) == 0


def test_samples_make_sets_of_different_size_comparable() -> None:
    features = torch.randn(60, 30, generator=seeded(0))
    few = geometric_diversity(features[:40], seeded(1), sample=10, draws=40)
    many = geometric_diversity(features, seeded(1), sample=10, draws=40)
    assert few.log_volume == pytest.approx(many.log_volume, rel=0.1)
    assert (few.images, few.draws, few.flat) == (10, 40, 0)
    again = geometric_diversity(features, seeded(1), sample=10, draws=40)
    assert again == many
    whole = geometric_diversity(features[:5], seeded(0), sample=10)
    assert whole.draws == 1 and whole.log_volume == log_volume(features[:5])
    doubled = geometric_diversity(features[:6].repeat(2, 1), seeded(0), sample=11, draws=4)
    assert doubled.flat == 4 and doubled.log_volume == -math.inf


def test_effective_number_of_label_pairs() -> None:
    even = effective_kinds([(4, 9), (9, 4), (3, 5), (5, 3)])
    assert (even.distinct, even.largest_share) == (4, 0.25) and even.effective == pytest.approx(4)
    skewed = effective_kinds([(4, 9)] * 9 + [(9, 4)])
    assert skewed.effective == pytest.approx(0.9**-0.9 * 0.1**-0.1)
    assert effective_kinds([]).effective == 0


def test_neighbours() -> None:
    found = neighbour_distances(torch.tensor([[0.0], [1.0], [3.0], [10.0]]))
    assert (found.smallest, found.median, found.largest) == (1, 1.5, 7)  # 1, 1, 2, 7
    assert neighbour_distances(torch.zeros(1, 3)).count == 0


def test_duplicates() -> None:
    images = torch.tensor([[0.0], [0.5], [0.0], [0.52], [0.9], [0.5]])
    assert exact_distinct(images).tolist() == [0, 1, 3, 4]
    assert distinct(images, radius=0.1).tolist() == [0, 1, 4]
    assert distinct(images, radius=0.0).tolist() == [0, 1, 3, 4]
    assert distinct(images[:0], radius=0.1).tolist() == []


def test_near_duplicates_are_found_over_block_borders() -> None:
    centres = torch.randn(40, 8, generator=seeded(0)) * 10
    features = centres.repeat(20, 1) + 1e-3 * torch.randn(800, 8, generator=seeded(1))
    assert distinct(features, radius=0.1).tolist() == list(range(40))


def test_the_published_shannon_counts_lit_pixels() -> None:
    grey = torch.full((1000, 28, 28), 0.5)
    assert math.exp(published_shannon(grey)) == pytest.approx(784_000, rel=1e-6), "identical images, the maximum"
    assert published_shannon(torch.zeros(3, 4)) == 0
    assert published_shannon(torch.tensor([[1.0, 3.0]])) == pytest.approx(
        -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    )


def test_features_are_vectors() -> None:
    with pytest.raises(ValueError, match="flatten images first"):
        log_volume(torch.zeros(2, 1, 4, 4))
