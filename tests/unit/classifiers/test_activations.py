"""Activations are those of the layer, whatever the next one does to them."""

import pytest
import torch
from torch import nn

from foible.classifiers.activations import run_and_record


class Secret(nn.Module):
    """Works in place without saying so."""

    def forward(self, x):
        return x.clamp_(min=0)


@pytest.mark.parametrize("after", [nn.ReLU(inplace=True), nn.ReLU(), Secret()])
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_work_in_place_leaves_no_trace(after, mode):
    module = nn.Sequential(nn.Linear(3, 4), after, nn.Linear(4, 2)).eval()
    inputs = torch.randn(5, 3)
    with mode():
        output, kept = run_and_record(module, inputs, ("0", "1"))
        torch.testing.assert_close(kept["0"], module[0](inputs))
        torch.testing.assert_close(kept["1"], module[0](inputs).clamp(min=0))
        torch.testing.assert_close(output, module(inputs))


def test_nothing_is_copied_where_nothing_works_in_place():
    module = nn.Sequential(nn.Linear(3, 4), nn.Identity())
    with torch.no_grad():
        output, kept = run_and_record(module, torch.randn(2, 3), ("0",))
    assert kept["0"].data_ptr() == output.data_ptr()
