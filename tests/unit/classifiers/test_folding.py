import pytest
import torch
from torch import nn

from foible.classifiers.folding import folded
from foible.classifiers.networks.efficientnet import EfficientNetLite
from foible.classifiers.networks.reference import AllConvolutional, Residual, Separable

SHAPE = (3, 32, 32)


def norms(module):
    return sum(isinstance(m, nn.BatchNorm2d) for m in module.modules())


def used(module):
    """With running figures that are not those of a network that has seen nothing."""
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d):
            for tensor, (low, high) in (
                (norm.running_mean, (-0.3, 0.3)),
                (norm.running_var, (0.5, 2)),
                (norm.weight.data, (0.5, 1.5)),
                (norm.bias.data, (-0.2, 0.2)),
            ):
                tensor.uniform_(low, high)
    return module.eval()


@pytest.mark.parametrize("network", [EfficientNetLite, Residual, AllConvolutional, Separable])
def test_a_folded_network_has_no_batch_norm_and_answers_alike(network):
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        plain, images = used(network(SHAPE, 10)), torch.rand(3, *SHAPE)
        quick = folded(plain)
        assert norms(quick) == 0 < norms(plain), "the network itself stays as it was"
        torch.testing.assert_close(quick(images), plain(images), rtol=1e-4, atol=1e-5)


class Backwards(nn.Module):
    """Registers a batch norm behind a convolution that it comes before."""

    def __init__(self):
        super().__init__()
        self.convolution, self.norm = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)

    def forward(self, images):
        return self.convolution(self.norm(images))


def test_what_may_not_follow_is_left_alone():
    for module in (Backwards(), nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3, track_running_stats=False))):
        assert norms(folded(module)) == 1
