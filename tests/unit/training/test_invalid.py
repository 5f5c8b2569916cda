import pytest
import torch

from foible.domains import load_domain, real_images
from foible.training.foreign import foreign_images
from foible.training.invalid import FITTED, MEASURED, WEIGHED, background, blend, erased, mixture, mosaic, torn

KINDS = {**FITTED, **WEIGHED, **MEASURED}


@pytest.fixture(scope="module")
def digits():
    real = real_images(load_domain("mnist"), "sample")
    index = torch.randperm(len(real.labels), generator=torch.Generator().manual_seed(0))[:32]
    return real.images(index), real.labels[index]


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32), (3, 30, 22)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_images_that_differ_from_what_it_was_given(kind, shape):
    torch.manual_seed(0)
    images, labels = torch.rand(6, *shape), torch.arange(6) % 3
    made = KINDS[kind](images, labels)
    assert made.shape == images.shape and made.min() >= 0 and made.max() <= 1
    assert ((made - images).flatten(1).norm(dim=1) > 0.1).all()


def test_no_kind_is_in_two_tables():
    assert len(KINDS) == len(FITTED) + len(WEIGHED) + len(MEASURED)


def test_a_blend_is_half_way_to_another_class():
    images = torch.stack([torch.zeros(1, 4, 4), torch.zeros(1, 4, 4), torch.ones(1, 4, 4)])
    made = blend(images, torch.tensor([0, 0, 1]))
    assert ((made > 0.35) & (made < 0.65)).all()


def test_one_class_alone_is_blended_with_itself_upside_down():
    image = torch.linspace(0, 1, 4).view(1, 1, 4, 1).expand(1, 1, 4, 4)
    assert blend(image, torch.tensor([0])).std() < image.std()


def test_erasing_leaves_a_part(digits):
    torch.manual_seed(0)
    images, labels = digits
    ink = erased(images, labels).sum() / images.sum()
    assert 0.05 < ink < 0.5


def test_torn_lines_keep_their_values(digits):
    images, labels = digits
    assert torch.equal(torn(images, labels).sort(3).values, images.sort(3).values)


def test_a_mosaic_has_sixteen_values(digits):
    assert len(mosaic(*digits)[0].unique()) <= 16


def test_background_is_the_median_of_the_border():
    image = torch.zeros(1, 1, 5, 5)
    image[0, 0, 0, :2] = 1
    assert background(image).item() == 0


def test_a_mixture_has_several_kinds(digits):
    torch.manual_seed(1)
    images, labels = digits
    made = mixture(images, labels, {"torn": torn, "mosaic": mosaic}, share=4)
    plain = torch.tensor([len(image.unique()) <= 16 for image in made])
    assert len(made) == 32 and 0 < plain.sum() < 32


def test_foreign_images_are_training_images_where_a_domain_ships_no_sample(monkeypatch):
    asked = []

    def images(domain, where=None, split="test"):
        asked.append((domain.name, where, split))
        return real_images(load_domain("mnist"), "sample")

    monkeypatch.setattr("foible.training.foreign.real_images", images)
    made = foreign_images(("fashion", "svhn"), (3, 32, 32), 6)
    assert made.shape == (6, 3, 32, 32)
    assert asked == [("fashion", "sample", "test"), ("svhn", None, "train")]
