"""Objective, oracle and the parts of the searches, with numbers a reader can check with a pencil."""

import math

import pytest
import torch

from foible.errors import RecipeError
from foible.objectives.margin import Margin, margin
from foible.oracles.misclassified import Misclassified
from foible.oracles.targeted import Targeted
from foible.searches.extent import initial_step
from foible.searches.genetic import Genetic
from foible.searches.random import Random
from foible.testing.play import play, toy_feedback, toy_lanes
from foible.types import Evaluation, LatentSpace


def evaluation(logits, labels, targets=None):
    images, latents, nobody = torch.zeros(len(labels), 1, 2, 2), torch.zeros(len(labels), 3), [-1] * len(labels)
    aims = torch.tensor(targets or nobody)
    return Evaluation(latents, images, latents, torch.tensor(labels), aims, {"tested": torch.tensor(logits)})


def test_margin_is_expected_minus_best_other():
    logits = torch.tensor([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0], [5.0, 5.0, 0.0]])
    assert margin(logits, torch.tensor([0, 1, 0])).tolist() == [1.0, -2.0, 0.0]
    assert Margin()(evaluation([[3.0, 1.0, 2.0]], [0])).shape == (1, 1)


def test_with_a_target_the_margin_is_how_far_it_is_behind():
    logits, aims = [[3.0, 1.0, 2.0], [3.0, 1.0, 4.0], [3.0, 1.0, 4.0]], [2, 2, -1]
    assert Margin()(evaluation(logits, [0, 0, 0], aims))[:, 0].tolist() == [1.0, -1.0, -1.0]
    assert Targeted()(evaluation(logits, [0, 0, 0], aims)).tolist() == [False, True, False]


def test_a_tie_is_not_a_failure():
    assert Misclassified()(evaluation([[5.0, 5.0], [4.0, 5.0], [5.0, 4.0]], [0, 0, 0])).tolist() == [False, True, False]


def test_published_extents():
    """The published MNIST VAE: range 7.32128, d_init 0.00146426 (low) and 0.0146426 (high)."""
    space = LatentSpace((400,), torch.tensor(-3.86494), torch.tensor(3.45634), torch.ones(400))
    assert initial_step("low", space) == pytest.approx(0.00146426, rel=1e-5)
    assert initial_step("high", space) == pytest.approx(0.0146426, rel=1e-5)
    assert initial_step(0.5, space) == pytest.approx(7.32128, rel=1e-5)
    with pytest.raises(RecipeError, match="no extent is called 'hihg'"):
        initial_step("hihg", space)


def test_survivors_keep_their_scores_and_are_not_asked_again():
    search, lanes = Genetic(population=6, survivors=2), toy_lanes([0, 1])
    state = search.begin(lanes)
    first = search.ask(state, lanes)
    assert len(first.lanes) == 12
    feedback = toy_feedback(first, lanes)
    after = search.tell(state, lanes, first, feedback)
    second = search.ask(after, lanes)
    assert len(second.lanes) == 8, "four children per lane, no survivor"
    lane_scores = feedback.scores[first.lanes == 0, 0]
    assert after["scores"][0, :2].tolist() == sorted(lane_scores.tolist())[:2]
    best = first.latents[first.lanes == 0][lane_scores.argmin()]
    assert torch.equal(after["latents"][0, 0], best)


def test_children_are_cut_from_two_different_parents():
    """With almost no mutation every coordinate of a child comes from a parent: a head of one, a tail of another."""
    search, lanes = Genetic(population=30, survivors=3, extent=1e-9), toy_lanes([0], (2, 8))
    state = search.begin(lanes)
    state["latents"] = torch.arange(30.0).view(1, 30, 1, 1).expand(1, 30, 2, 8).clone() / 100
    proposal = search.ask(state, lanes)
    children = search.tell(state, lanes, proposal, toy_feedback(proposal, lanes))["latents"][0, 3:].flatten(1)
    rounded = children.mul(100).round()
    assert all(len(set(row.tolist())) <= 2 for row in rounded)
    assert any(len(set(row.tolist())) == 2 for row in rounded), "crossover does cut"
    heads, tails = rounded[:, 0], rounded[:, -1]
    assert bool((heads != tails).float().mean() > 0.5)


def test_step_doubles_on_stagnation_and_returns_on_progress():
    search = Genetic(tolerance=0.01, cap=4)
    step = torch.tensor([1.0, 1.0, 4.0, 8.0])
    before, after = torch.tensor([10.0, 10.0, 10.0, math.inf]), torch.tensor([9.99, 5.0, 10.0, 3.0])
    assert search._adapted(step, before, after, 1.0).tolist() == [2.0, 1.0, 4.0, 1.0]


def test_compat_is_the_published_rule_exact_equality_and_no_cap():
    search = Genetic(compat=True)
    step = torch.tensor([1024.0, 2.0])
    assert search._adapted(step, torch.tensor([5.0, 5.0]), torch.tensor([5.0, 4.9999]), 1.0).tolist() == [2048.0, 1.0]


def test_best_score_never_gets_worse():
    search, lanes = Genetic(extent=0.01), toy_lanes([0, 1, 2])
    state, last = search.begin(lanes), torch.full((3,), math.inf)
    for _ in range(20):
        state = play(search, lanes, 1, state)
        assert bool((state["best"] <= last).all())
        last = state["best"]


def test_coordinates_equal_to_the_origin_are_not_mutated():
    search, lanes = Genetic(population=4, survivors=2, extent=0.1), toy_lanes([0])
    state = search.begin(lanes)
    state["latents"][:, :, 1] = lanes.origins[:, None, 1]
    after = play(search, lanes, 3, state)
    assert bool((after["latents"][:, :, 1] == lanes.origins[:, None, 1]).all())


@pytest.mark.parametrize(
    "wrong", [{"survivors": 25}, {"survivors": 1}, {"cap": 0.5}, {"tolerance": -1}, {"extent": 3.0}]
)
def test_settings_that_cannot_work_are_refused(wrong):
    with pytest.raises(RecipeError):
        Genetic(**wrong)


def test_random_takes_the_steps_that_the_genetic_search_may_take():
    search, lanes = Random(batch=4000, extent=0.001, cap=16), toy_lanes([0], (500,))
    smallest = initial_step(0.001, lanes.space)
    distance = (search.ask(search.begin(lanes), lanes).latents - lanes.origins).norm(dim=1) / 500**0.5
    doublings = (distance / smallest).log2().round()
    assert doublings.unique().tolist() == [0, 1, 2, 3, 4]
    assert torch.bincount(doublings.long()).min() > 700, "each about equally often: 800 expected"
