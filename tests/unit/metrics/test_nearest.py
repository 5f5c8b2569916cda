"""The nearest row, against measuring every pair."""

from __future__ import annotations

import pytest
import torch

from foible.metrics.nearest import nearest


def rows(seed: int, *shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("block", [1, 7, 4096])
def test_it_is_the_smallest_of_all_distances(block: int) -> None:
    queries, archive = rows(0, 3, 9, 20), rows(1, 3, 31, 20)
    found = nearest(queries, archive, block=block)
    distances, positions = torch.cdist(queries.double(), archive.double()).min(2)
    assert found.positions.equal(positions)
    assert torch.allclose(found.distances.double(), distances, rtol=1e-6)


def test_cosine() -> None:
    queries, archive = rows(0, 9, 20), rows(1, 31, 20)
    found = nearest(queries, archive, metric="cosine")
    similar = torch.nn.functional.cosine_similarity(queries[:, None].double(), archive[None].double(), dim=2)
    assert found.positions.equal(similar.argmax(1))
    assert torch.allclose(found.distances.double(), 1 - similar.max(1).values, atol=1e-6)


def test_a_row_that_is_the_query_itself_does_not_count() -> None:
    points = torch.tensor([[0.0], [1.0], [10.0]])
    assert nearest(points, points).distances.tolist() == [0, 0, 0]
    apart = nearest(points, points, own=torch.arange(3))
    assert (apart.distances.tolist(), apart.positions.tolist()) == ([1, 1, 9], [1, 0, 1])


def test_archives_may_be_partly_filled() -> None:
    queries, archive = torch.zeros(3, 1, 2), torch.tensor([[3.0, 4.0], [0.0, 1.0]]).expand(3, 2, 2)
    found = nearest(queries, archive, filled=torch.tensor([2, 1, 0]))
    assert found.distances[:, 0].tolist() == [1, 5, float("inf")]
    assert found.positions[:, 0].tolist() == [1, 0, -1]
    empty = nearest(queries, archive[:, :0])
    assert empty.positions.eq(-1).all() and empty.distances.isinf().all()


def test_near_duplicates_far_from_the_origin_are_told_apart() -> None:
    """The product alone loses these digits: 1,000^2 in single precision is known to about 0.06."""
    archive = torch.full((5, 4), 1000.0)
    archive[:, 0] += torch.tensor([0.05, 0.01, 0.5, 0.02, 0.8])
    found = nearest(torch.full((1, 4), 1000.0), archive)
    assert found.positions.tolist() == [1]
    assert found.distances.item() == pytest.approx(0.01, rel=0.01)


def test_of_equals_the_first_and_whatever_the_blocks() -> None:
    archive = torch.tensor([[2.0], [1.0], [1.0], [1.0], [-1.0], [1.0]])
    for block in (1, 2, 6):
        assert nearest(torch.zeros(1, 1), archive, block=block).positions.tolist() == [1]


def test_a_lane_does_not_depend_on_its_neighbours() -> None:
    queries, archive = rows(2, 5, 8, 64), rows(3, 5, 50, 64)
    together = nearest(queries, archive)
    for lane in range(5):
        alone = nearest(queries[lane], archive[lane])
        assert alone.distances.equal(together.distances[lane]) and alone.positions.equal(together.positions[lane])


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="agree in lanes and features"):
        nearest(torch.zeros(2, 3), torch.zeros(2, 4))
