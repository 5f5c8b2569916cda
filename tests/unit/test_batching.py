"""Pieces of work side by side; chunks are tested with what uses them."""

import pytest
import torch

from foible.batching import side_by_side


@pytest.mark.parametrize("threads", [1, 3])
def test_pieces_go_side_by_side_on_one_thread_each_and_stay_in_order(threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        seen = side_by_side(lambda piece: (piece, torch.get_num_threads()), range(7))
        assert [piece for piece, _ in seen] == list(range(7)) and {own for _, own in seen} == {1}
        with pytest.raises(ZeroDivisionError):
            side_by_side(lambda piece: 1 // piece, [1, 0])
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
