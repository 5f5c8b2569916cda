import pytest
import torch

from foible.classifiers.networks.lenet import lenet1, lenet4, lenet5
from foible.errors import RecipeError
from foible.generators.gan import GAN, truncated_normal
from foible.generators.networks.gan import ConditionalGAN
from foible.generators.networks.vae import ConvolutionalVAE, SpatialVAE, vae_network
from foible.registry import build
from foible.types import LatentSpace


@pytest.mark.parametrize(("make", "parameters"), [(lenet1, 7_206), (lenet4, 69_362), (lenet5, 107_786)])
def test_lenets_have_the_published_number_of_parameters(make, parameters):
    assert sum(p.numel() for p in make((1, 28, 28), 10).parameters()) == parameters


@pytest.mark.parametrize("name", ["deepconv", "lenet1", "vgg", "residual", "all_convolutional", "separable"])
@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32)])
def test_every_network_scores_every_shape(name, shape):
    network = build("networks", name, {"shape": shape, "classes": 7}).eval()
    assert network(torch.rand(2, *shape)).shape == (2, 7)


@pytest.mark.parametrize(("shape", "widths"), [((1, 28, 28), (8, 16)), ((3, 32, 32), (8, 16, 32))])
def test_convolutional_vae_goes_there_and_back(shape, widths):
    network = ConvolutionalVAE(shape, widths, latent=5).eval()
    mean, log_variance = network.posterior(torch.rand(3, *shape))
    images = network(mean).detach()
    assert mean.shape == log_variance.shape == (3, 5)
    assert images.shape == (3, *shape) and 0 <= float(images.min()) <= float(images.max()) <= 1


def test_the_latent_of_a_spatial_vae_is_a_picture():
    network = SpatialVAE((3, 32, 32), (8, 16), latent=2).eval()
    image = torch.rand(1, 3, 32, 32)
    changed = image.clone()
    changed[..., 24:, 24:] = 0
    (before, spread), (after, _) = network.posterior(image), network.posterior(changed)
    assert before.shape == spread.shape == (1, 2, 8, 8)
    moved = (before - after).abs().amax((0, 1))
    assert moved[7, 7] > 0 and moved[:4, :4].max() == 0, "what is in one corner stays there"
    images = network(before).detach()
    assert images.shape == (1, 3, 32, 32) and 0 <= float(images.min()) <= float(images.max()) <= 1


def test_an_unknown_vae_network_is_named():
    with pytest.raises(RecipeError, match="no VAE network is called 'conv'"):
        vae_network({"network": "conv"})


def gan(truncation=None):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = ConditionalGAN((1, 8, 8), 3, latent=6, widths=(8, 4), judge_widths=(4, 8))
    space = LatentSpace((6,), torch.tensor(-4.0), torch.tensor(4.0), torch.ones(6))
    return GAN("tiny", network, space, truncation)


def test_gan_output_is_mapped_into_the_currency():
    generator, labels = gan(), torch.tensor([0, 1, 2])
    latents = generator.sample(labels, torch.Generator().manual_seed(0))
    raw, images = generator.network.generator(latents, labels), generator.decode(latents, labels)
    assert float(raw.min()) < float(images.min())
    assert torch.allclose(images, (raw + 1) / 2)


def test_the_label_makes_the_image():
    generator = gan()
    latents = torch.zeros(2, 6)
    first, second = generator.decode(latents, torch.tensor([0, 1]))
    assert not torch.equal(first, second)


def test_the_discriminator_answers_in_the_currency():
    generator = gan()
    assert generator.realness(torch.rand(3, 1, 8, 8), torch.tensor([0, 1, 2])).shape == (3,)


def test_truncation_bounds_samples():
    samples = gan(truncation=0.5).sample(torch.zeros(500, dtype=torch.long), torch.Generator().manual_seed(0))
    assert float(samples.abs().max()) <= 0.5
    assert float(samples.std()) > 0.2


def test_truncated_normal_at_a_wide_limit_is_normal():
    samples = truncated_normal(torch.linspace(0.0005, 0.9995, 1000), 6.0)
    assert float(samples.mean()) == pytest.approx(0, abs=1e-3)
    assert float(samples.std()) == pytest.approx(1, abs=0.02)
