import math

import pytest
import torch

from foible.errors import RecipeError, StoreError
from foible.registry import build
from foible.training.fit import fit
from foible.training.settings import FitSettings, one_cycle, optimisers_for
from foible.zoo.files import save_model

FAMILIES = {
    "classifier": {"network": "lenet1"},
    "vae": {"network": "convolutional", "widths": [4, 8], "latent": 4},
    "gan": {"latent": 4, "widths": [8, 4], "judge_widths": [4, 8]},
    "diffusion": {"widths": [8, 16]},
}
SETTINGS = FitSettings(epochs=3, batch=32, learning_rate=3e-3, average=0.9)


def learner(family, domain):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return build("learners", family, {"domain": domain, **FAMILIES[family]})


def weights(trained):
    return torch.cat([v.flatten().float() for v in trained.network.state_dict().values()])


@pytest.mark.parametrize("family", FAMILIES)
def test_same_seed_same_weights_and_resume_changes_nothing(family, bars, bar_images, tmp_path):
    whole, resumed = learner(family, bars), learner(family, bars)
    fit(whole, bar_images, SETTINGS)
    checkpoint = tmp_path / "a.checkpoint"

    def die(figures):
        if figures["epoch"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(learner(family, bars), bar_images, SETTINGS, checkpoint, die)
    history = fit(resumed, bar_images, SETTINGS, checkpoint)
    assert len(history.epochs) == 3
    assert torch.equal(weights(whole), weights(resumed))


def test_each_part_of_a_gan_has_its_own_loss(bars, bar_images):
    trained = learner("gan", bars)
    before = {name: [p.clone() for p in part.parameters()] for name, part in trained.parts.items()}
    history = fit(trained, bar_images, SETTINGS.model_copy(update={"average": 0.0}))
    assert {"loss", "discriminator_loss", "generator_loss"} <= set(history.epochs[0])
    for name, part in trained.parts.items():
        assert any(not torch.equal(a, b) for a, b in zip(before[name], part.parameters(), strict=True))


def test_the_discriminator_step_leaves_the_generator_alone(bars, bar_images):
    trained = learner("gan", bars)
    images, labels = bar_images.images(torch.arange(8)), bar_images.labels[:8]
    name, loss = next(trained.losses(images, labels, 0.0))
    loss.backward(inputs=list(trained.parts[name].parameters()))
    assert name == "discriminator"
    assert all(p.grad is None for p in trained.network.generator.parameters())


def test_a_part_may_learn_faster_than_the_others():
    parts = {"discriminator": torch.nn.Linear(2, 1), "generator": torch.nn.Linear(1, 2)}
    settings = FitSettings(learning_rate=0.1, rates={"discriminator": 3.0})
    optimisers = optimisers_for(parts, settings)
    assert {name: o.param_groups[0]["lr"] for name, o in optimisers.items()} == pytest.approx(
        {"discriminator": 0.3, "generator": 0.1}
    )
    with pytest.raises(RecipeError, match="no part 'judge'"):
        optimisers_for(parts, FitSettings(rates={"judge": 2.0}))


def test_a_discriminator_is_kept_as_it_is_and_not_averaged(bars, bar_images):
    """The mean of spectral norms' vectors is no unit vector: scores of an averaged discriminator explode."""
    trained = learner("gan", bars)
    history = fit(trained, bar_images, SETTINGS.model_copy(update={"average": 0.99}))
    assert abs(history.epochs[-1]["score_real"]) < 100
    for name, buffer in trained.network.discriminator.named_buffers():
        if name.endswith(("_u", "_v")):
            assert buffer.norm().item() == pytest.approx(1.0, abs=1e-3)


def test_nonsense_beside_a_batch_costs_what_is_not_spread_over_all_classes(bars, bar_images):
    trained = build("learners", "classifier", {"domain": bars, "network": "lenet1", "outliers": 0.5})
    images, labels = bar_images.images(torch.arange(8)), bar_images.labels[:8]
    trained.network = lambda shown: torch.zeros(len(shown), len(bars.classes))
    _, unsure = next(trained.losses(images, labels, 0.0))
    assert unsure.item() == pytest.approx(1.5 * math.log(len(bars.classes)))
    trained.network = lambda shown: torch.nn.functional.one_hot(torch.zeros(len(shown), dtype=torch.long), 3) * 9.0
    _, sure = next(trained.losses(images, labels, 0.0))
    assert sure > unsure + 1


def test_a_classifier_learns_the_bars(bars, bar_images):
    history = fit(learner("classifier", bars), bar_images, FitSettings(epochs=8, batch=16, learning_rate=1e-2))
    assert min(e["error"] for e in history.epochs) == 0
    assert history.epochs[-1]["loss"] < history.epochs[0]["loss"]


def test_patience_stops_early_and_the_best_epoch_stays(bars, bar_images):
    settings = FitSettings(epochs=30, batch=16, learning_rate=1e-2, patience=2)
    history = fit(learner("classifier", bars), bar_images, settings)
    assert len(history.epochs) == history.best_epoch + 2 < 30


def test_a_checkpoint_of_other_settings_is_refused(bars, bar_images, tmp_path):
    checkpoint = tmp_path / "a.checkpoint"
    fit(learner("classifier", bars), bar_images, SETTINGS, checkpoint)
    with pytest.raises(StoreError, match="other settings"):
        fit(learner("classifier", bars), bar_images, SETTINGS.model_copy(update={"seed": 1}), checkpoint)


def test_global_randomness_is_left_alone(bars, bar_images):
    state = torch.get_rng_state()
    fit(learner("vae", bars), bar_images, FitSettings(epochs=1, batch=32))
    assert torch.equal(state, torch.get_rng_state())


def test_sgd_with_momentum(bars, bar_images):
    settings = FitSettings(epochs=5, batch=16, optimiser="sgd", learning_rate=0.05)
    history = fit(learner("classifier", bars), bar_images, settings)
    assert history.epochs[-1]["loss"] < history.epochs[0]["loss"]


def test_one_cycle_rises_for_a_fifth_and_falls_to_nothing():
    assert one_cycle(0, 100) == pytest.approx(0.04)
    assert one_cycle(20, 100) == 1
    assert one_cycle(60, 100) == pytest.approx(0.5)
    assert one_cycle(100, 100) == pytest.approx(0)


@pytest.mark.parametrize("total", [1, 2, 5, 6])
def test_one_cycle_bears_trainings_of_a_few_steps(total):
    assert all(0 <= one_cycle(step, total) <= 1 for step in range(total + 2))


@pytest.mark.parametrize(
    ("family", "other"), [("vae", {"latent": 3}), ("gan", {"widths": [16, 8]}), ("diffusion", {"widths": [16, 8]})]
)
def test_the_training_of_a_generator_goes_on_from_a_model_file(family, other, bars, bar_images, tmp_path):
    first, path = learner(family, bars), tmp_path / "first.safetensors"
    save_model(path, first.header(), first.tensors(bar_images), torch.float32)
    begin = {"domain": bars, "start": str(path)}
    begun = build("learners", family, begin | FAMILIES[family])
    assert torch.equal(weights(begun), weights(first))
    with pytest.raises(RecipeError, match="are of another network"):
        build("learners", family, begin | FAMILIES[family] | other)
