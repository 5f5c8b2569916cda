from functools import partial

import pytest
import torch

from foible.classifiers.networks.efficientnet import EfficientNetLite
from foible.classifiers.networks.reference import Residual
from foible.domains import load_domain
from foible.errors import MissingExtra, ModelError, RecipeError
from foible.training.beginnings import start_from
from foible.training.classifier import ClassifierLearner
from foible.zoo import entry, load_model

SHAPE = (3, 32, 32)


@pytest.mark.parametrize(("depth", "parameters"), [(1.0, 4_652_008), (1.1, 5_416_680)])
def test_has_the_published_number_of_parameters(depth, parameters):
    network = EfficientNetLite(SHAPE, 1000, depth=depth)
    assert sum(p.numel() for p in network.parameters()) == parameters


def test_published_weights_are_taken_over_in_their_order():
    first, second = (EfficientNetLite(SHAPE, 3, side=32).eval() for _ in range(2))
    published = {k: v for k, v in first.state_dict().items() if not k.startswith("head.")}
    second.start_from({**published, "_fc.weight": torch.zeros(1000, 1280)})
    images = torch.rand(2, *SHAPE)
    assert torch.equal(first.blocks(first.stem(images)), second.blocks(second.stem(images)))
    with pytest.raises(ModelError, match="are not those of this network"):
        EfficientNetLite(SHAPE, 3, depth=1.1).start_from(published)


def test_small_and_grey_images_are_refused():
    with pytest.raises(ModelError, match="takes 3 channels and a side divisible by 32, got 1 and 40"):
        EfficientNetLite((1, 28, 28), 10, side=40)


def test_weights_that_are_not_installed_are_asked_for():
    with pytest.raises(MissingExtra, match="no-such-weights"):
        start_from(EfficientNetLite(SHAPE, 3), "no_such_weights")
    with pytest.raises(RecipeError, match="'Linear' starts from nothing"):
        start_from(torch.nn.Linear(1, 1), "no_such_weights")


def test_a_training_goes_on_from_a_model_of_the_same_network():
    learner = ClassifierLearner(load_domain("mnist"), "lenet1", start="mnist-lenet1")
    learner.network.eval()
    images = torch.rand(3, 1, 28, 28)
    known = load_model(entry("mnist-lenet1").path(), "classifiers")
    assert torch.allclose(learner._logits(images), known(images), atol=1e-5)
    with pytest.raises(RecipeError, match="are of another network"):
        ClassifierLearner(load_domain("mnist"), "lenet5", start="mnist-lenet1")


def test_a_mixed_image_counts_for_both_of_its_labels():
    learner = ClassifierLearner(load_domain("mnist"), "lenet1", mixing=0.5)
    logits, labels = torch.tensor([[2.0, 0, 0], [0, 0, 1.0]]), torch.tensor([0, 1])
    quarter = learner._mixed_loss(logits, labels, torch.tensor([0.25, 0.0]))
    wrong, right = -logits[0].log_softmax(0)[1], -logits[0].log_softmax(0)[0]
    other = -logits[1].log_softmax(0)[1]
    assert float(quarter) == pytest.approx(float((0.75 * right + 0.25 * wrong + other) / 2))


@pytest.mark.parametrize("network", [partial(EfficientNetLite, side=32), partial(Residual, widths=(4, 6, 8))])
def test_a_network_with_a_mirror_sees_both_sides_alike(network):
    torch.manual_seed(0)
    plain, both = (network(SHAPE, 3, mirror=mirror).eval() for mirror in (False, True))
    both.load_state_dict(plain.state_dict())
    images = torch.rand(2, *SHAPE)
    with torch.no_grad():
        assert torch.allclose(both(images), both(images.flip(3)), atol=1e-5)
        assert torch.allclose(both(images), (plain(images) + plain(images.flip(3))) / 2, atol=1e-5)


def test_training_in_bfloat16_gives_nearly_the_same_slope_and_float32_weights():
    domain, slopes = load_domain("mnist"), []
    for half in (False, True):
        torch.manual_seed(0)
        learner = ClassifierLearner(domain, "lenet1", half=half)
        ((_, loss),) = learner.losses(torch.rand(8, 1, 28, 28), torch.arange(8), 0.0)
        loss.backward()
        slopes.append(torch.cat([p.grad.flatten() for p in learner.network.parameters()]))
        assert loss.dtype == torch.float32 and {p.dtype for p in learner.network.parameters()} == {torch.float32}
    plain, halved = slopes
    assert 0.99 < torch.cosine_similarity(plain, halved, 0) < 1 and not torch.equal(plain, halved)
