import pytest
import torch
from pydantic import ValidationError

from foible.images import blurred
from foible.training.augment import Augmentation, cut_out, shifted, turned


@pytest.fixture(autouse=True)
def _seeded():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def test_nothing_asked_nothing_changed():
    images = torch.rand(4, 1, 6, 6)
    assert torch.equal(Augmentation()(images), images)


def test_shift_moves_whole_pixels_and_repeats_edges():
    images = torch.arange(5.0).view(1, 1, 1, 5).expand(200, 1, 5, 5)
    rows = {tuple(r) for r in shifted(images, 1)[:, 0, 0].tolist()}
    assert rows == {(0, 1, 2, 3, 4), (1, 2, 3, 4, 4), (0, 0, 1, 2, 3)}


def test_every_image_gets_its_own_shift():
    image = torch.rand(1, 1, 8, 8).expand(50, -1, -1, -1)
    assert len({tuple(i.flatten().tolist()) for i in shifted(image, 2)}) > 10


def test_flip_swaps_left_and_right_for_about_half():
    image = torch.tensor([[0.0, 1.0]]).view(1, 1, 1, 2).expand(400, 1, 1, 2)
    flipped = (Augmentation(flip=True)(image)[:, 0, 0, 0] == 1).float().mean()
    assert 0.4 < flipped < 0.6


def test_a_quarter_turn_moves_the_corner():
    image = torch.zeros(1, 1, 3, 3)
    image[..., 0, 0] = 1
    assert torch.allclose(turned(image, 0.0, 0.0), image, atol=1e-5)
    assert not torch.allclose(turned(image, 1.5, 0.0), image, atol=1e-2)


def test_cutout_hides_at_most_its_square():
    images = torch.rand(20, 1, 10, 10)
    changed = (cut_out(images, 4) != images).sum((1, 2, 3))
    assert int(changed.min()) > 0 and int(changed.max()) <= 25


def test_brightness_moves_the_mean_only():
    images = torch.rand(8, 1, 6, 6)
    moved = Augmentation(brightness=0.2)(images) - images
    assert torch.allclose(moved, moved[..., :1, :1].expand_as(moved), atol=1e-6)
    assert float(moved.abs().max()) <= 0.2 + 1e-6


def test_gradients_flow():
    images = torch.rand(4, 3, 8, 8, requires_grad=True)
    Augmentation(flip=True, shift=1, rotate=10, cutout=3, contrast=0.2)(images).sum().backward()
    assert images.grad is not None and bool(torch.isfinite(images.grad).all())


def test_unknown_setting_is_refused():
    with pytest.raises(ValidationError):
        Augmentation(shear=1)


def test_warp_of_a_plain_image_changes_nothing_and_of_a_slope_little():
    plain, slope = torch.full((3, 1, 8, 8), 0.5), torch.linspace(0, 1, 8).expand(3, 1, 8, 8)
    assert torch.allclose(Augmentation(warp=0.1)(plain), plain, atol=1e-6)
    assert 0 < (Augmentation(warp=0.05)(slope) - slope).abs().max() < 0.2


def test_blur_spreads_a_point_and_keeps_its_sum():
    point = torch.zeros(1, 1, 9, 9)
    point[0, 0, 4, 4] = 1
    spread = blurred(point, 1.0)
    assert spread.sum().item() == pytest.approx(1.0, abs=1e-5)
    assert spread[0, 0, 4, 4] == spread.max() < 0.2
    assert spread[0, 0, 4, 3].item() == pytest.approx(spread[0, 0, 3, 4].item())


def test_noise_stays_in_range():
    torch.manual_seed(0)
    noisy = Augmentation(noise=0.5)(torch.full((16, 1, 8, 8), 0.9))
    assert noisy.max() == 1 and noisy.min() >= 0 and noisy.std() > 0.05
