from functools import partial
from types import SimpleNamespace

import pytest
import torch

from foible.errors import RecipeError
from foible.faces import Encoder, prefers_real
from foible.testing.contracts import GeneratorContract
from foible.types import LatentSpace

pytest.importorskip("diffusers")

from foible.generators.denoising import noised
from foible.generators.diffusion import Diffusion
from foible.generators.networks.unet import Denoiser

SHAPE = (1, 8, 8)


def diffusion(**settings):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Denoiser(SHAPE, 3, widths=(8, 16))
    space = LatentSpace(SHAPE, torch.tensor(-4.0), torch.tensor(4.0), torch.ones(SHAPE))
    return Diffusion("tiny", network, space, **{"steps": 3, **settings})


class TestContract(GeneratorContract):
    def make(self):
        return diffusion()


class TestLatentContract(GeneratorContract):
    def make(self):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            network = Denoiser(SHAPE, 3, widths=(8,), fold=1, autoencoder={"widths": (4,), "latent": 2})
        space = LatentSpace((2, 4, 4), torch.tensor(-4.0), torch.tensor(4.0), torch.ones(2, 4, 4))
        return Diffusion("tiny", network, space, steps=3)


def test_guidance_one_is_the_conditional_network_alone():
    generator, labels = diffusion(guidance=1.0), torch.tensor([0, 2])
    nearly = diffusion(guidance=1.0 + 1e-9)  # takes the guided path
    latents = generator.sample(labels, torch.Generator().manual_seed(0))
    assert torch.allclose(generator.decode(latents, labels), nearly.decode(latents, labels), atol=1e-5)


def test_steps_and_guidance_change_the_image():
    labels = torch.tensor([1])
    latents = diffusion().sample(labels, torch.Generator().manual_seed(0))
    plain = diffusion().decode(latents, labels)
    assert not torch.allclose(plain, diffusion(steps=6).decode(latents, labels))
    assert not torch.allclose(plain, diffusion(guidance=6.0).decode(latents, labels))


def test_an_image_does_not_depend_on_its_neighbours():
    generator, labels = diffusion(), torch.tensor([0, 1, 2, 0])
    latents = generator.sample(labels, torch.Generator().manual_seed(0))
    alone = generator.decode(latents[2:3], labels[2:3])
    assert torch.allclose(generator.decode(latents, labels)[2:3], alone, atol=1e-5)


@pytest.mark.parametrize("guidance", [1.0, 3.0])
def test_what_it_makes_is_encoded_to_noise_that_makes_it_again(guidance):
    generator, labels = diffusion(guidance=guidance), torch.tensor([0, 2, 1])
    images = generator.decode(0.5 * generator.sample(labels, torch.Generator().manual_seed(0)), labels)
    latents = generator.encode(images, labels)
    assert torch.equal(latents, generator.space.clamp(latents))
    plain, solved = (
        (generator.decode(z, labels) - images).abs().mean()
        for z in (noised(generator.scheduler, partial(generator._velocity, labels), images * 2 - 1, 4.0, 1), latents)
    )
    assert solved < 0.03 and solved < plain / 2


def test_guesses_that_make_it_worse_are_taken_back():
    class Steep:  # a step that overshoots by far: y = 4 x; the fixed-point iteration alone would run away from 0.25
        timesteps, num_inference_steps, config = torch.tensor([1]), 1, SimpleNamespace(num_train_timesteps=2)
        alphas_cumprod, final_alpha_cumprod = torch.ones(2), torch.tensor(1.0)

        def step(self, output, time, pictures, eta, return_dict):
            return (output,)

    found = noised(Steep(), lambda pictures, time: 4 * pictures, torch.ones(1, 1, 1, 1), 5.0, 12)
    assert float(found) == pytest.approx(0.25, abs=0.02)


def test_origins_are_samples_unless_asked_otherwise():
    assert isinstance(diffusion(), Encoder) and not prefers_real(diffusion())


def test_zero_steps_are_refused():
    with pytest.raises(RecipeError, match="steps must be 1 to 1000, got 0"):
        diffusion(steps=0)
