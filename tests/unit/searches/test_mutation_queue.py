"""DRFuzz's mutations, and its queue, with numbers a pencil can check."""

import pytest
import torch

from foible.errors import RecipeError
from foible.objectives.regression import CATEGORIES, category
from foible.searches.mutation_queue import MutationQueue, _as_image, _fresh, _metropolis, _prints
from foible.searches.mutations import MUTATIONS, blur, dilate, erode, moved, reverse, salt, translate
from foible.testing.play import lanes_for
from foible.types import Feedback, Want


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


DOT = torch.zeros(1, 7, 7)
DOT[0, 3, 3] = 1.0


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.__name__)
def test_every_mutation_keeps_shape_and_changes_something(mutation):
    image = torch.rand(3, 9, 8, generator=rng())
    made = [mutation(image, rng(seed)) for seed in range(6)]
    assert all(m.shape == image.shape and m.isfinite().all() for m in made)
    assert any(not torch.equal(m, image) for m in made)
    assert torch.equal(mutation(image, rng(3)), mutation(image, rng(3)))


def test_a_dot_moves_grows_and_disappears():
    assert torch.allclose(moved(DOT, (1, 0, -2 / 7, 0, 1, 0))[0, 3, 4], torch.tensor(1.0), atol=1e-4), "right by one"
    assert {int(translate(DOT, rng(k)).sum().round()) for k in range(8)} == {1}, "whole pixels"
    sizes = {int(dilate(DOT, rng(k)).sum()) for k in range(30)}
    assert sizes == {1, 2, 3, 4, 9}, "kernels of 1 to 9 pixels"
    assert {int(erode(DOT, rng(k)).sum()) for k in range(30)} == {0, 1}
    assert int(reverse(torch.zeros(1, 7, 7), rng()).sum()) == 4, "two by two"
    assert torch.allclose(blur(torch.full((1, 7, 7), 0.5), rng(1)), torch.tensor(0.5)), "a flat image stays flat"
    assert abs(float((salt(torch.full((1, 300, 300), 0.5), rng()) != 0.5).float().mean()) - 0.004) < 0.001


def test_categories():
    p = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1], [0.7, 0.3], [0.3, 0.7], [0.9, 0.1]])
    q = torch.tensor([[0.4, 0.6], [0.3, 0.7], [0.55, 0.45], [0.52, 0.48], [0.8, 0.2], [0.88, 0.12]])
    said = [CATEGORIES[k] for k in category(p, q, torch.zeros(6, dtype=torch.long)).tolist()]
    assert said == ["regression", "both wrong", "weakened", "half weakened", "fix", "other"]


def lanes_and_state(search):
    lanes = lanes_for(search, [0], (1, 3, 3))
    return lanes, search.begin(lanes)


def told(search, lanes, state, p, q, kind):
    """One round in which every mutant that was asked about has these probabilities."""
    proposal = search.ask(state, lanes)
    rows = len(proposal.lanes)
    notes = {"tested": torch.tensor([p] * rows).mul(1e6).long(), "rival": torch.tensor([q] * rows).mul(1e6).long()}
    scores = torch.tensor([[q[0] - p[0], float(CATEGORIES.index(kind))]] * rows)
    wrong = torch.tensor([p.index(max(p)) != q.index(max(q))] * rows)
    return search.tell(state, lanes, proposal, Feedback(scores, wrong, torch.ones(rows).long(), None, notes)), proposal


def test_a_mutation_is_rewarded_and_a_mutant_that_gets_weaker_joins():
    search = MutationQueue(seeds=2, room=4, mutants=3)
    lanes, state = lanes_and_state(search)
    lanes.starts.labels[:] = 0
    state, proposal = told(search, lanes, state, [0.9, 0.1, 0.0], [0.7, 0.3, 0.0], "half weakened")
    assert int(state["rewards"].sum()) == 1 and int(state["tried"].sum()) == 1 and int(state["faithful"].sum()) == 1
    assert int(state["joined"]) == 1, "the first of three equals is ahead, the others are not ahead of it"
    assert torch.equal(state["queue"][0, 2], proposal.latents[proposal.wants == Want.SCORES][0])
    assert float(state["sure"][0, 2]) == pytest.approx(0.7) and float(state["depth"][0, 2]) == 1


def test_as_adapted_barren_entries_are_never_demoted_and_images_both_get_wrong_pay():
    wrong = ([0.1, 0.9, 0.0], [0.2, 0.8, 0.0], "both wrong")
    for compat, chosen, rewards in ((True, 0, 1), (False, 1, 0)):
        search = MutationQueue(seeds=2, room=4, mutants=3, compat=compat)
        lanes, state = lanes_and_state(search)
        lanes.starts.labels[:] = 0
        state, _ = told(search, lanes, state, *wrong)
        assert int(state["chosen"].sum()) == chosen and int(state["rewards"].sum()) == rewards


def test_an_image_is_asked_about_once():
    search = MutationQueue(seeds=1, room=4, mutants=8)
    lanes, state = lanes_and_state(search)
    proposal = search.ask(state, lanes)
    asked = proposal.latents[proposal.wants == Want.SCORES]
    state["asked"][0, : len(asked)] = _prints(asked)
    assert set(search.ask(state, lanes).wants.tolist()) == {int(Want.GUIDE)}
    assert _fresh(torch.tensor([5, 6, 5, 7]), torch.tensor([0, 7])).tolist() == [True, True, False, False]
    assert int(Want.SCORES) in MutationQueue(seeds=1, room=4, mutants=8, compat=True).ask(state, lanes).wants


def test_better_mutations_are_drawn_more_often_but_not_only():
    search = MutationQueue()
    _, state = lanes_and_state(search)
    state["tried"][:] = 10
    state["faithful"][:] = 10
    state["rewards"][0] = torch.arange(15)
    state["last"][:] = 7
    drawn = torch.tensor([_metropolis(state, 0, rng(k)) for k in range(300)])
    assert drawn.float().mean() > 7.5 and len(drawn.unique()) > 10


def test_nothing_passing_for_long_ends_it():
    search = MutationQueue(seeds=1, room=4, mutants=2, patience=2)
    lanes, state = lanes_and_state(search)
    for _ in range(2):
        proposal = search.ask(state, lanes)
        held = type(proposal)(proposal.latents, proposal.lanes, proposal.origins, torch.full((2,), int(Want.GUIDE)))
        none = torch.zeros(2, dtype=torch.bool)
        state = search.tell(state, lanes, held, Feedback(torch.full((2, 2), torch.nan), none, none.long()))
    assert bool(state["done"][0])


def test_latents_of_any_shape_are_looked_at_as_images():
    assert _as_image((3,)) == (1, 1, 3) and _as_image((2, 3)) == (1, 2, 3) and _as_image((4, 5, 6)) == (4, 5, 6)
    with pytest.raises(RecipeError):
        MutationQueue(room=0)
