"""Transfer: what it does with a check in vain."""

import torch

from foible.searches.transfer import CHECK, GUIDE, Transfer
from foible.testing.play import toy_lanes
from foible.types import Feedback, Want


def told(proposal, likeliest):
    """The surrogates fail by far, the tested classifier does not, and finds this class likeliest after its own."""
    count = len(proposal.lanes)
    slopes = torch.zeros(count, 3, *proposal.latents.shape[1:])
    slopes[:, 2] = -1.0
    scores = torch.tensor([[5.0, 0.0, -1e6]]).expand(count, 3)
    notes = {"likeliest": torch.tensor([[likeliest, -1, -1, -1, -1]]).expand(count, 5)}
    return Feedback(scores, torch.zeros(count, dtype=torch.bool), torch.ones(count, dtype=torch.long), slopes, notes)


def played(search, lanes, rounds):
    """Phase, aim of what was asked, and whether it was asked at the origin, round by round."""
    state, seen = search.begin(lanes), []
    for _ in range(rounds):
        proposal = search.ask(state, lanes)
        at_origin = torch.equal(proposal.latents, lanes.origins)
        seen.append((int(state["phase"][0]), int(proposal.targets[0]), at_origin))
        state = search.tell(state, lanes, proposal, told(proposal, likeliest=2))
        state["latents"] = state["latents"] + 0.01 * (seen[-1][0] == GUIDE)  # the surrogates lead somewhere
    return seen


def test_after_a_check_in_vain_the_surrogates_go_for_the_class_that_the_tested_classifier_named():
    seen = played(Transfer(steady=False), toy_lanes([0]), 4)
    assert [phase for phase, _, _ in seen] == [GUIDE, CHECK, GUIDE, CHECK]
    assert [aim for _, aim, _ in seen] == [-1, -1, 2, -1], "any failure will do when the tested classifier is asked"


def test_after_half_of_the_checks_it_begins_again_at_the_origin():
    seen = played(Transfer(steady=False, checks=4), toy_lanes([0]), 8)
    assert [k for k, (_, _, at_origin) in enumerate(seen) if at_origin] == [0, 4]


def test_a_wanted_class_stays_the_aim():
    lanes = toy_lanes([0])
    lanes.starts.targets[:] = 1
    assert {aim for _, aim, _ in played(Transfer(steady=False), lanes, 4)} == {1}


def test_the_tested_classifier_is_asked_for_scores_alone():
    lanes, search = toy_lanes([0]), Transfer(steady=False)
    state = search.begin(lanes)
    state["phase"][:] = CHECK
    assert search.ask(state, lanes).wants.tolist() == [int(Want.SCORES)]
