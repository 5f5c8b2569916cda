"""Contract tests: inherit, say how to make the component, and run with pytest.

class TestMySearch(SearchContract):
    def make(self):
        return MySearch()
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch

from foible.testing.play import lanes_for, play, same
from foible.testing.scoring import MemoryContract, ObjectiveContract, OracleContract
from foible.types import Capability

__all__ = [
    "ClassifierContract",
    "GeneratorContract",
    "MemoryContract",
    "ObjectiveContract",
    "OracleContract",
    "SearchContract",
    "ValidatorContract",
]


class SearchContract:
    """What the engine relies on in every search."""

    latent_shapes = ((3,), (2, 3), (1, 3, 1, 1))

    def make(self) -> Any:
        """The search under test, with settings fit for the toy models."""
        raise NotImplementedError

    def test_every_lane_is_asked_for(self) -> None:
        """Each lane has a candidate, of the right shape and inside the bounds."""
        for shape in self.latent_shapes:
            search = self.make()
            lanes = lanes_for(search, [0, 1, 2], shape)
            proposal = search.ask(search.begin(lanes), lanes)
            assert set(proposal.lanes.tolist()) == {0, 1, 2}
            assert proposal.latents.shape[1:] == shape
            assert proposal.latents.dtype == torch.float32
            assert bool((proposal.latents >= lanes.space.low).all() and (proposal.latents <= lanes.space.high).all())

    def test_asking_changes_nothing(self) -> None:
        """Ask is a pure function of the state."""
        search = self.make()
        lanes = lanes_for(search, [0, 1])
        state = search.begin(lanes)
        assert torch.equal(search.ask(state, lanes).latents, search.ask(state, lanes).latents)

    def test_state_has_lanes_first(self) -> None:
        """Every tensor of the state has one row per lane, also after several rounds."""
        search = self.make()
        lanes = lanes_for(search, [4, 5, 6, 7])
        state = play(search, lanes, rounds=3)
        assert all(len(v) == 4 for v in state.values())

    def test_lanes_do_not_see_each_other(self) -> None:
        """An origin searched alone gives bit for bit what it gives in company."""
        search = self.make()
        together = play(search, lanes_for(search, [3, 8, 9]), rounds=6)
        for row, attempt in enumerate([3, 8, 9]):
            alone = play(search, lanes_for(search, [attempt]), rounds=6)
            assert all(same(together[k][row], alone[k][0]) for k in alone)
            asked, company = (
                search.ask(alone, lanes_for(search, [attempt])),
                search.ask(together, lanes_for(search, [3, 8, 9])),
            )
            assert torch.equal(asked.latents, company.latents[company.lanes == row])

    def test_state_can_be_cut_and_joined(self) -> None:
        """A lane taken out of one batch and put into another goes on as if nothing had happened."""
        search = self.make()
        lanes = lanes_for(search, [1, 2])
        state = play(search, lanes, rounds=4)
        second = {k: v[1:] for k, v in state.items()}
        moved = play(search, lanes_for(search, [2]), rounds=3, state=second)
        stayed = play(search, lanes, rounds=3, state=state)
        assert all(same(moved[k][0], stayed[k][1]) for k in moved)


class GeneratorContract:
    """What the engine relies on in every generator."""

    differentiable = True  # False for one whose decoder is not made of torch operations: searches by gradient refuse it

    def make(self) -> Any:
        """The generator under test."""
        raise NotImplementedError

    def in_double(self, generator: Any) -> Any:
        """The generator with its network in double precision, in which finite differences mean something."""
        network = getattr(generator, "network", None)
        if isinstance(network, torch.nn.Module):
            network.double()
        return generator

    def labels(self) -> torch.Tensor:
        """Labels it understands."""
        return torch.tensor([0, 1, 2])

    def test_images_are_the_currency(self) -> None:
        """float32 NCHW, finite, in [0, 1], of the announced shape."""
        generator, labels = self.make(), self.labels()
        images = generator.decode(generator.sample(labels, torch.Generator().manual_seed(0)), labels)
        assert images.dtype == torch.float32
        assert tuple(images.shape) == (len(labels), *generator.shape)
        assert bool(torch.isfinite(images).all()) and float(images.min()) >= 0 and float(images.max()) <= 1

    def test_same_latent_same_image(self) -> None:
        """All randomness is in the latent."""
        generator, labels = self.make(), self.labels()
        latents = generator.sample(labels, torch.Generator().manual_seed(0))
        assert torch.equal(generator.decode(latents, labels), generator.decode(latents, labels))

    def test_same_stream_same_latent(self) -> None:
        """Samples come from the stream that is handed over, and from nothing else."""
        generator, labels = self.make(), self.labels()
        first, second = (generator.sample(labels, torch.Generator().manual_seed(7)) for _ in range(2))
        assert torch.equal(first, second)
        assert not torch.equal(first, generator.sample(labels, torch.Generator().manual_seed(8)))

    def test_samples_fit_the_space(self) -> None:
        """Latents have the space's shape; bounds and step broadcast against it."""
        generator, labels = self.make(), self.labels()
        latents = generator.sample(labels, torch.Generator().manual_seed(0))
        assert tuple(latents.shape[1:]) == tuple(generator.space.shape)
        assert generator.space.clamp(latents).shape == latents.shape
        assert generator.space.range > 0

    def test_gradients_reach_the_latents(self) -> None:
        """The derivative of an image along a direction is what a small step in that direction shows."""
        if not self.differentiable:
            return
        generator, labels, rng = self.in_double(deepcopy(self.make())), self.labels(), torch.Generator().manual_seed(0)
        latents = generator.sample(labels, rng).double().requires_grad_()
        images = generator.decode(latents, labels)
        weights, direction = (torch.randn(t.shape, generator=rng, dtype=t.dtype) for t in (images, latents))
        (gradient,) = torch.autograd.grad((images * weights).sum(), latents)
        slope = (gradient * direction).flatten(1).sum(1)
        with torch.no_grad():
            ahead, behind = (generator.decode(latents + h * direction, labels) for h in (1e-6, -1e-6))
        measured = ((ahead - behind) * weights).flatten(1).sum(1) / 2e-6
        assert bool(gradient.any())
        assert torch.allclose(slope, measured, rtol=1e-3, atol=1e-4 * float(measured.abs().max()))


class ClassifierContract:
    """What the engine relies on in every classifier."""

    shape: tuple[int, int, int]

    def make(self) -> Any:
        """The classifier under test."""
        raise NotImplementedError

    def test_one_row_of_scores_per_image(self) -> None:
        """Finite scores, one column per class."""
        classifier = self.make()
        scores = classifier(torch.rand(5, *self.shape, generator=torch.Generator().manual_seed(0)))
        assert tuple(scores.shape) == (5, len(classifier.classes))
        assert bool(torch.isfinite(scores).all())

    def test_same_image_same_scores(self) -> None:
        """Nothing random, nothing remembered, and the images are left as they were."""
        classifier = self.make()
        images = torch.rand(4, *self.shape, generator=torch.Generator().manual_seed(0))
        before = images.clone()
        assert torch.equal(classifier(images), classifier(images))
        assert torch.equal(images, before)

    def test_gradients_arrive_where_they_are_offered(self) -> None:
        """The logits lead back to the images, and stop at the parameters."""
        classifier = self.make()
        if Capability.GRADIENT in classifier.offers:
            images = torch.rand(2, *self.shape, generator=torch.Generator().manual_seed(0)).requires_grad_()
            (gradient,) = torch.autograd.grad(classifier(images)[:, 0].sum(), images)
            assert gradient.shape == images.shape and bool(torch.isfinite(gradient).all())

    def test_logits_are_the_same_with_activations(self) -> None:
        """One pass gives both, and a layer gives one row per image."""
        classifier = self.make()
        if Capability.ACTIVATIONS in classifier.offers:
            images = torch.rand(3, *self.shape, generator=torch.Generator().manual_seed(0))
            logits, seen = classifier.inspect(images, classifier.layers()[:1])
            assert torch.equal(logits, classifier(images))
            assert [len(values) for values in seen.values()] == [3]


class ValidatorContract:
    """What the judge relies on in every validator."""

    shape: tuple[int, int, int] = (1, 28, 28)
    classes = 10

    def make(self) -> Any:
        """The validator under test."""
        raise NotImplementedError

    def test_one_answer_per_image(self) -> None:
        """As many answers as images, each with scores in [0, 1] and an acceptance that follows from them."""
        images, labels = self.some()
        said = self.make()(images, labels)
        assert len(said) == len(images)
        for verdict in (v for mine in said for v in mine):
            assert 0 <= verdict.score <= 1 and verdict.accepted == (verdict.score >= verdict.threshold)
            assert verdict.about in {"image", "label"} and verdict.validator

    def test_neighbours_do_not_matter(self) -> None:
        """An image judged alone gets what it gets in company."""
        validator, (images, labels) = self.make(), self.some()
        alone = [validator(i[None], y[None])[0] for i, y in zip(images[:3], labels[:3], strict=True)]
        assert validator(images, labels)[:3] == alone

    def test_images_are_left_alone(self) -> None:
        """Judging changes nothing."""
        images, labels = self.some()
        before = images.clone()
        self.make()(images, labels)
        assert torch.equal(images, before)

    def some(self) -> tuple[Any, Any]:
        """Five images of noise with labels."""
        rng = torch.Generator().manual_seed(0)
        return torch.rand(5, *self.shape, generator=rng), torch.arange(5) % self.classes
