"""A search played without networks: what it will ask for, known before the first image."""

from __future__ import annotations

import torch

from foible.campaign.assemble import Campaign
from foible.faces import Populous
from foible.protocols import Lanes
from foible.types import Arm, Feedback, Proposal, Starts

LANES, FEW_LANES = 32, 4  # origins side by side where the recipe leaves it open: the fewest, and for images one by one


def first_proposal(campaign: Campaign, arm: Arm) -> Proposal:
    """What one search asks for at first."""
    lanes = _one_lane(campaign, arm)
    search = campaign.searches[arm]
    return search.ask(search.begin(lanes), lanes)


def candidates_per_round(campaign: Campaign, arm: Arm) -> int:
    """How many candidates one search asks for at a time once it is under way."""
    lanes, search = _one_lane(campaign, arm), campaign.searches[arm]
    state = search.begin(lanes)
    first = search.ask(state, lanes)
    count, columns = len(first.lanes), len(campaign.objective.names)
    feedback = Feedback(
        torch.ones(count, columns),
        torch.zeros(count, dtype=torch.bool),
        torch.ones(count, dtype=torch.long),
        torch.ones(count, columns, *campaign.generator.space.shape),
    )
    return len(search.ask(search.tell(state, lanes, first, feedback), lanes).lanes)


def lanes_of(campaign: Campaign, arm: Arm, chunk: int) -> int:
    """How many origins are searched side by side: what the recipe says, or enough for four chunks in most rounds.

    A search that asks for one candidate at a time wants many beside it. Where images go through the networks one by one,
    more lanes would only make the first finding late.
    """
    wanted = campaign.recipe.engine.lanes
    if isinstance(wanted, int):
        return wanted
    if chunk == 1:
        return FEW_LANES
    return max(LANES, 4 * chunk // candidates_per_round(campaign, arm))


def _one_lane(campaign: Campaign, arm: Arm) -> Lanes:
    search, space = campaign.searches[arm], campaign.generator.space
    count = search.starts if isinstance(search, Populous) else 1
    labels = torch.zeros(1, count, dtype=torch.long)
    starts = Starts(torch.zeros(1, dtype=torch.long), torch.zeros(1, count, *space.shape), labels, labels - 1)
    return Lanes(starts, space, campaign.streams)
