import pytest
import torch

from foible.registry import build
from foible.training.fit import measure
from tests.unit.training.test_fit import FAMILIES


def losses(learner, images, seed=0):
    torch.manual_seed(seed)
    learner.network.train()
    picked = torch.arange(32)
    return {part: loss.detach() for part, loss in learner.losses(images.images(picked), images.labels[picked], 0.5)}


@pytest.fixture
def pair(family, bars):
    """Two learners that differ in their precision alone."""
    with torch.random.fork_rng():
        made = []
        for half in (False, True):
            torch.manual_seed(0)
            made.append(build("learners", family, {"domain": bars, "half": half, **FAMILIES[family]}))
        yield made


@pytest.mark.parametrize("family", FAMILIES)
def test_products_are_rounded_and_losses_are_not(pair, bar_images):
    whole, half = (losses(learner, bar_images) for learner in pair)
    assert {loss.dtype for loss in half.values()} == {torch.float32}
    for part, loss in half.items():
        assert float(loss) != float(whole[part])
        assert float(loss) == pytest.approx(float(whole[part]), rel=0.02)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_measured_is_not_rounded(pair, bar_images):
    found = []
    for learner in pair:
        torch.manual_seed(0)
        found.append(measure(learner, bar_images, torch.arange(60)))
    assert found[0] == found[1]
