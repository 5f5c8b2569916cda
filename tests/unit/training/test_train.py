import tomllib

import pytest
import torch

from foible.domains import load_domain
from foible.errors import FoibleError, RecipeError
from foible.testing.toys import write_toy_images
from foible.training.teacher import known_teacher
from foible.training.train import TrainingRecipe, train, training_recipe
from foible.zoo import load_model
from foible.zoo.catalogue import Entry
from foible.zoo.trainable import TRAINING_RECIPES


def small(family, root, **network):
    fit = {"epochs": 2, "batch": 16, "learning_rate": 1e-2}
    return TrainingRecipe(family=family, domain=str(root), network=network, fit=fit)


def test_a_tree_of_ones_own_becomes_a_model_with_a_card(tmp_path):
    root = write_toy_images(tmp_path / "toys", per_class=30)
    trained = train(small("classifier", root, network="lenet1"), tmp_path / "own.safetensors")
    card = tomllib.loads((tmp_path / "own.toml").read_text())
    entry = Entry(name="own", **card)
    assert entry.sha256 == trained.card["sha256"] and entry.parameters > 0 and "test_accuracy" in entry.figures
    assert len(card["curve"]["loss"]) == card["epochs"] == 2
    assert card["licence"].startswith("weights: MIT")
    assert load_model(trained.path, "classifiers").classes == ("left", "middle", "right")
    assert not (tmp_path / "own.checkpoint").exists()


def test_a_vae_file_carries_its_measured_space(tmp_path):
    root = write_toy_images(tmp_path / "toys", per_class=30)
    trained = train(small("vae", root, hidden=16, latent=3), tmp_path / "own.safetensors")
    generator = load_model(trained.path, "generators")
    images = torch.rand(40, 1, 6, 6)
    assert generator.space.shape == (3,) and generator.space.range > 0
    assert tuple(generator.encode(images, torch.zeros(40)).shape) == (40, 3)


def test_a_diffusion_model_may_work_on_the_latents_of_a_vae(tmp_path):
    pytest.importorskip("diffusers")
    root = write_toy_images(tmp_path / "toys", per_class=30)
    vae = train(small("vae", root, network="spatial", widths=[8], latent=2), tmp_path / "vae.safetensors").path
    recipe = small("diffusion", root, widths=[8], fold=1, steps=2, autoencoder=str(vae))
    generator = load_model(train(recipe, tmp_path / "own.safetensors").path, "generators")
    known, labels = load_model(vae, "generators"), torch.tensor([0, 1, 2])
    latents = generator.sample(labels, torch.Generator().manual_seed(0))
    assert latents.shape == (3, 2, 3, 3) and generator.decode(latents, labels).shape == (3, 1, 6, 6)
    images = torch.rand(5, 1, 6, 6)
    back = generator.network.shown(generator.network.pictured(images))
    assert torch.allclose(back, known.decode(known.encode(images, labels), labels), atol=1e-3), "trained as it was"
    assert float(generator.network.size) == pytest.approx(float(known.space.step.square().mean().sqrt()), rel=1e-2)


def taught(tmp_path):
    """Toy images, and a classifier of them that may teach a generator."""
    root = write_toy_images(tmp_path / "toys", per_class=30)
    known = train(small("classifier", root, network="lenet1"), tmp_path / "known.safetensors").path
    return root, {"use": str(known), "layers": ["features.1", "features.2"]}


def test_a_gan_may_lean_on_a_classifier_that_stays_as_it_was(tmp_path):
    root, teacher = taught(tmp_path)
    recipe = small("gan", root, widths=[8], judge_widths=[4], latent=5, teacher=teacher)
    gan = load_model(train(recipe, tmp_path / "own.safetensors").path, "generators")
    known, images, labels = (
        load_model(tmp_path / "known.safetensors", "classifiers"),
        torch.rand(6, 1, 6, 6),
        torch.arange(6) % 3,
    )
    scores, names = gan.network.discriminator(images * 2 - 1, labels)
    assert torch.allclose(names, known(images), atol=1e-3), "the teacher names the class, unchanged by the training"
    assert scores.shape == (6, 3), "one score for the pixels and one for each of the teacher's two layers"
    assert torch.allclose(gan.realness(images, labels), scores.sum(1))


def test_a_vae_learns_to_keep_what_its_teacher_sees(tmp_path):
    root, teacher = taught(tmp_path)
    images = torch.rand(50, 1, 6, 6)
    losses = []
    for weight in (0.0, 30.0):
        recipe = small("vae", root, hidden=16, latent=3, teacher=teacher, teacher_weight=weight)
        vae = load_model(train(recipe, tmp_path / f"{weight}.safetensors").path, "generators")
        known = known_teacher(load_domain(root), **teacher)
        back = vae.decode(vae.encode(images, torch.zeros(50)), torch.zeros(50))
        losses.append(
            sum(float((a - b).square().mean()) for a, b in zip(known(back)[1], known(images)[1], strict=True))
        )
    assert losses[1] < losses[0]


def test_a_generator_cannot_teach(tmp_path):
    root, teacher = taught(tmp_path)
    vae = train(small("vae", root, hidden=16, latent=3), tmp_path / "vae.safetensors").path
    with pytest.raises(RecipeError, match="is one of the generators"):
        train(small("gan", root, widths=[8], teacher={**teacher, "use": str(vae)}), tmp_path / "own.safetensors")


def test_the_classifier_under_test_cannot_teach(tmp_path):
    recipe = small("vae", "mnist", teacher={"use": "mnist-deepconv", "layers": ["features.4"]})
    with pytest.raises(RecipeError, match="hide its failures"):
        train(recipe, tmp_path / "own.safetensors")


@pytest.mark.parametrize(("layer", "said"), [("features.5", "gives \\(12, 1, 1\\)"), ("features.99", "no layer")])
def test_a_teacher_must_show_maps(tmp_path, layer, said):
    root, teacher = taught(tmp_path)
    with pytest.raises(FoibleError, match=said):
        train(small("gan", root, widths=[8], teacher={**teacher, "layers": [layer]}), tmp_path / "own.safetensors")


def test_only_a_vae_with_a_latent_picture_can_be_denoised_in(tmp_path):
    pytest.importorskip("diffusers")
    root = write_toy_images(tmp_path / "toys", per_class=30)
    vae = train(small("vae", root, hidden=16, latent=3), tmp_path / "vae.safetensors").path
    with pytest.raises(RecipeError, match="is no VAE with a latent picture"):
        train(small("diffusion", root, widths=[8], autoencoder=str(vae)), tmp_path / "own.safetensors")


@pytest.mark.parametrize("path", sorted(TRAINING_RECIPES.glob("*.toml")), ids=lambda p: p.stem)
def test_every_training_recipe_is_sound(path):
    facts = tomllib.loads(path.read_text())
    recipe = training_recipe(facts["family"], facts["domain"], path.stem)
    assert recipe.family == facts["family"]


def test_an_unknown_family_is_named():
    with pytest.raises(RecipeError, match="no family is called 'vea'") as error:
        training_recipe("vea", "mnist")
    assert "vae" in error.value.hint
