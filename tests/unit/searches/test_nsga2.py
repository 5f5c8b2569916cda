"""NSGA-II with an archive, with numbers a pencil can check."""

from dataclasses import replace

import pytest
import torch

from foible.errors import RecipeError
from foible.objectives.divergence import PAIR, SEEN, Divergence, distances, divergence, looked_at, nearness
from foible.oracles.disagree import Disagree
from foible.searches.across import across
from foible.searches.nsga2 import NSGA2
from foible.searches.pareto import in_turn
from foible.testing.play import toy_lanes
from foible.types import Evaluation, Feedback, Proposal

LOOK = (1, 1, 4)


def scores(*rows):
    return torch.tensor(rows).log()


def test_divergence_is_the_distance_of_probabilities_and_one_more_where_labels_differ():
    first, second = scores([0.6, 0.4], [0.8, 0.2], [0.5, 0.5]), scores([0.6, 0.4], [0.5, 0.5], [0.2, 0.8])
    wanted = torch.tensor([0, 0.18**0.5, 1 + 0.18**0.5], dtype=torch.float64)
    assert torch.allclose(divergence(first, second), wanted, atol=1e-6)


def test_no_agreement_ranks_above_a_disagreement():
    rng = torch.Generator().manual_seed(0)
    first, second = (8 * torch.randn(5000, 10, generator=rng) for _ in range(2))
    differ = first.argmax(1) != second.argmax(1)
    for apart in (divergence(first, second), nearness(first, second)):
        assert apart[~differ].max() < 1 < apart[differ].min()


def test_who_agrees_is_nearer_to_disagreeing_where_either_is_about_to_change_its_mind():
    """The smaller gaps of scores are 1, 3 and 0: 1 / (1 + gap) is 1/2, 1/4 and 1, and the probabilities are equal."""
    same = torch.tensor([[2.0, 1.0], [3.0, 0.0], [1.0, 1.0]])
    assert nearness(same, same).tolist() == [0.25, 0.125, 0.5]
    sure = torch.tensor([[9.0, 0.0]])
    unsure = torch.tensor([[1.0, 0.0]])
    assert nearness(sure, unsure) == nearness(unsure, sure) > nearness(sure, sure)


def test_images_are_compared_as_stored():
    image = torch.tensor([0, 0.5, 1, 0.2]).view(1, 1, 1, 4)
    assert looked_at(image, LOOK).tolist() == [[0, 128, 255, 51]]
    assert looked_at(image, (1, 1, 2)).tolist() == [[64, 153]]
    black, white = torch.zeros(1, 4, dtype=torch.uint8), torch.full((1, 4), 255, dtype=torch.uint8)
    assert distances(black, white, "euclidean").item() == 1
    assert distances(black, torch.cat([white, black]), "euclidean").item() == 0
    assert distances(black, torch.cat([white, black]), "euclidean", own=torch.tensor([1])).item() == 1


def evaluation(objective, images, memory):
    rows = len(images)
    same = scores(*[[0.6, 0.4]] * rows)
    lanes = torch.zeros(rows, dtype=torch.long)
    blank = torch.zeros(rows, 3)
    return Evaluation(blank, images, blank, lanes, lanes, {"tested": same, "rival": same}, {}, lanes, memory)


def test_the_archive_holds_the_last_disagreements_and_nothing_else():
    objective, lanes = Divergence(room=2, look=LOOK, enough=1), toy_lanes([0])
    memory = objective.begin(lanes, {})
    images = torch.stack([torch.full((1, 1, 4), v) for v in (0.0, 0.2, 0.4, 1.0)])
    assert objective(evaluation(objective, images, memory))[:, 1].tolist() == [-1, -1, -1, -1]
    proposal = Proposal(torch.zeros(4, 3), torch.zeros(4, dtype=torch.long))
    notes = objective.note(evaluation(objective, images, memory))
    failed = torch.tensor([True, False, True, True])
    memory = objective.absorb(memory, lanes, proposal, Feedback(torch.zeros(4, 2), failed, failed.long(), None, notes))
    assert int(memory["found"][0]) == 3
    assert sorted(memory["archive"][0, :, 0].tolist()) == [102, 255], "0 was the oldest"
    assert objective(evaluation(objective, images, memory))[:, 1].tolist() == pytest.approx(
        [-0.4, -0.2, 0, 0], abs=1e-6
    )
    nearer = Divergence(room=2, look=LOOK, enough=0.25)
    assert nearer(evaluation(nearer, images, memory))[:, 1].tolist() == pytest.approx([-0.25, -0.2, 0, 0], abs=1e-6)


def test_parents_and_siblings_near_a_find_are_no_longer_new_and_the_find_itself_still_is():
    search, lanes = NSGA2(population=4, look=LOOK), toy_lanes([0], starts=4)
    everyone = {
        "scores": torch.tensor([[[0.0, -1.0]] * 8]),
        "seen": torch.tensor([0, 51, 102, 255, 102, 153, 204, 255], dtype=torch.uint8).view(1, 8, 1).expand(1, 8, 4),
    }
    failed = torch.tensor([[True, False, False, True]])  # children 102 and 255
    novelty = -search._up_to_date(everyone, failed)[0, :, 1]
    assert novelty.tolist() == pytest.approx([0.4, 0.2, 0, 0, 0.6, 0.2, 0.2, 0.6], abs=1e-6)
    assert len(lanes) == 1


def test_copies_of_a_find_come_last():
    search = NSGA2(population=4, look=LOOK, least=0.25)
    scores = torch.tensor([[[-1.5, -0.24], [-0.1, -0.25], [-1.2, -0.9]]])
    noted = Feedback(torch.zeros(0, 2), torch.zeros(0, dtype=torch.bool), torch.zeros(0), None, {SEEN: torch.zeros(0)})
    assert search._ranked(scores, noted)[0, :, 0].tolist() == pytest.approx([torch.inf, -0.1, -1.2])
    assert torch.equal(NSGA2(compat=True)._ranked(scores, noted), scores)


def test_the_first_generation_are_the_origins_each_with_its_own_label():
    search, lanes = NSGA2(population=6, look=LOOK), toy_lanes([0, 1], starts=6)
    proposal = search.ask(search.begin(lanes), lanes)
    assert torch.equal(proposal.latents.view(2, 6, 3), lanes.starts.latents)
    assert proposal.origins.tolist() == [*range(6), *range(6)]


def test_two_goals_are_approached_at_once():
    """Minimise |z0 - 1| and |z0 + 1|: the front is -1 <= z0 <= 1 with the others free."""
    search, lanes = NSGA2(population=20), toy_lanes([0, 1], starts=20)
    state = search.begin(lanes)
    for _ in range(25):
        proposal = search.ask(state, lanes)
        z = proposal.latents[:, 0]
        goals = torch.stack(
            [(z - 1).abs() + proposal.latents[:, 1].abs(), (z + 1).abs() + proposal.latents[:, 1].abs()], 1
        )
        state = search.tell(state, lanes, proposal, Feedback(goals, z < -9, torch.ones(40, dtype=torch.long)))
    assert state["latents"][..., 1].abs().median() < 0.05
    assert state["latents"][..., 0].abs().max() < 1.2 and state["latents"][..., 0].std() > 0.3
    assert not bool((state["children"] == state["latents"]).all(2).any())


def test_published_settings_live_in_a_box():
    search, lanes = NSGA2(population=6, compat=True), toy_lanes([0], starts=6)
    state = search.begin(lanes)
    assert state["children"].abs().max() <= 1 and not torch.equal(state["children"], lanes.starts.latents)
    objective = search.suggests([])["objective"]
    assert objective["metric"] == "cosine" and objective["enough"] == 1 and not objective["boundary"]


def test_whom_to_meet_halfway():
    """Of class 0 are 0 to 4 on a line: 0, 1 and 3 are answered alike, 2 otherwise, 4 is a find. 5 is of another class."""
    latents = torch.tensor([0.0, 1.0, 2.0, 5.0, 2.1, 2.0]).view(1, 6, 1)
    labels, answers = torch.tensor([[0, 0, 0, 0, 0, 1]]), torch.tensor([[7, 7, 8, 7, 9, 7]])
    found = torch.tensor([[False, False, False, False, True, False]])
    assert across(latents, labels, answers, found).tolist() == [[2, 2, -1, 2, -1, -1]], "1 and 2 have one middle"


def told(search, latents, answers):
    """A generation whose members the classifiers answer as said: the state after it."""
    lanes = toy_lanes([0], starts=len(latents))
    lanes.starts.labels.zero_()
    state = search.begin(lanes) | {"children": latents[None].clone()}
    nobody = torch.zeros(len(latents), dtype=torch.bool)
    notes = {SEEN: torch.zeros(len(latents), 4, dtype=torch.uint8), PAIR: answers}
    scores = torch.stack([-torch.arange(len(latents)).flip(0) / 10, -torch.ones(len(latents))], 1)
    return search.tell(state, lanes, search.ask(state, lanes), Feedback(scores, nobody, nobody.long(), None, notes))


def test_a_child_stands_halfway_to_the_other_side_of_a_boundary():
    latents = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    answers = torch.tensor([4, 4, 4, 9])
    wanted = torch.tensor([0.5, 0, 0.5])
    close = lambda state: bool((state["children"][0] - wanted).abs().amax(1).min() < 1e-6)  # noqa: E731
    assert close(told(NSGA2(population=4, look=LOOK, halving=1), latents, answers))
    assert not close(told(NSGA2(population=4, look=LOOK, halving=0), latents, answers))


@pytest.mark.parametrize("compat", [False, True])
def test_children_have_coordinates_of_both_parents(compat):
    """Half of the members stand at -1 and half at 1; crossover alone would leave every child beside one parent."""
    latents = torch.ones(20, 3) * torch.tensor([-0.9, 0.9]).repeat_interleave(10)[:, None]
    search = NSGA2(population=20, look=LOOK, halving=0, mutation=0, compat=compat)
    signs = told(search, latents, torch.zeros(20, dtype=torch.long))["children"][0].sign().sum(1).abs()
    assert (signs < 3).sum() >= 3, "some children are on neither parent's side in all coordinates"


@pytest.mark.parametrize(
    "settings",
    [
        {"population": 5},
        {"population": 2},
        {"crossover": 2},
        {"mutation": -1},
        {"columns": 0},
        {"least": 1},
        {"halving": 2},
        {"goals": "all"},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(RecipeError):
        NSGA2(**settings)


@pytest.mark.parametrize(
    "settings", [{"room": 0}, {"look": (28, 28)}, {"metric": "manhattan"}, {"rivals": []}, {"enough": 0}]
)
def test_an_archive_that_makes_no_sense_is_refused(settings):
    with pytest.raises(RecipeError):
        Divergence(**settings)


def test_notes_are_what_the_search_measures_with():
    assert SEEN in Divergence(look=LOOK).note(evaluation(Divergence(look=LOOK), torch.zeros(1, 1, 1, 4), {}))


def test_of_every_label_pair_the_best_live_on_in_turn():
    """Best to worst are 3, 1, 0, 2; 3, 1 and 0 are of one kind, and 2 of another. With 1 last, it comes after all."""
    best, kinds = torch.tensor([[3, 1, 0, 2]]), torch.tensor([[7, 7, 5, 7]])
    nobody = torch.zeros(1, 4, dtype=torch.bool)
    assert in_turn(best, kinds, nobody).tolist() == [[3, 2, 1, 0]]
    assert in_turn(best, kinds, torch.tensor([[False, True, False, False]])).tolist() == [[3, 2, 0, 1]]


def test_niches_keep_a_rare_pair_that_would_die_out():
    """Member 5 is dominated by everybody and alone in its pair."""
    ranked = torch.tensor([[[-2.0, -k / 10] for k in range(7)] + [[-1.0, 0.0]]])
    pairs = torch.tensor([[1] * 7 + [2]])
    assert 7 not in NSGA2(population=4, niches=False)._best(ranked, pairs)
    assert 7 in NSGA2(population=4)._best(ranked, pairs)


@pytest.mark.parametrize(("goals", "wins"), [("divergence", 0), ("novelty", 1)])
def test_one_goal_alone_decides(goals, wins):
    """Children 0..3 diverge ever more, children 4..7 are ever newer: the best by each goal alone has the most of it."""
    search, lanes = NSGA2(population=8, goals=goals), toy_lanes([0], starts=8)
    state = search.begin(lanes)
    scores = torch.zeros(8, 2)
    scores[:4, 0], scores[4:, 1] = -torch.arange(1.0, 5), -torch.arange(1.0, 5)
    proposal = search.ask(state, lanes)
    told = search.tell(state, lanes, proposal, Feedback(scores, scores[:, 0] > 9, torch.ones(8, dtype=torch.long)))
    best = told["latents"][0, 0]
    assert torch.equal(best, proposal.latents[3 if wins == 0 else 7])


def test_several_rivals_are_asked_and_the_farthest_counts():
    outputs = {"tested": scores([0.6, 0.4]), "rival": scores([0.6, 0.4]), "rival2": scores([0.2, 0.8])}
    one = torch.zeros(1, dtype=torch.long)
    seen = Evaluation(torch.zeros(1, 3), torch.zeros(1, 1, 1, 4), torch.zeros(1, 3), one, one, outputs, {}, one)
    both = Divergence(look=LOOK, rivals=("rival", "rival2"))
    memory = both.begin(toy_lanes([0]), {})
    value = both(replace(seen, memory=memory))[0, 0].item()
    assert value == pytest.approx(-(1 + 0.32**0.5), abs=1e-5) and set(both.reads) == {"tested", "rival", "rival2"}
    assert not bool(Disagree()(seen)) and bool(Disagree(("tested", "rival2"))(seen))
