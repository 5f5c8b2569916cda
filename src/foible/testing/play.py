"""Toy lanes and toy evaluations: what contract tests let searches, objectives and oracles work on."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from foible.campaign.roles import make_role, with_derived
from foible.campaign.spec import Recipe
from foible.domains.images import ImageArray
from foible.faces import Inspectable, Notes, Populous, Remembers, Shares, Suggests
from foible.images import to_bytes
from foible.protocols import Lanes, Role, Setting
from foible.registry import build
from foible.seeding import Streams
from foible.testing.toys import ToyClassifier, ToyGenerator
from foible.types import TESTED, Evaluation, Feedback, Latents, Proposal, Starts, State, Want

OTHERS = ("rival", "another", "surrogate")  # roles that are there without being asked for


def toy_lanes(attempts: list[int], latent_shape: tuple[int, ...] = (3,), starts: int = 1) -> Lanes:
    """Lanes over the toy generator."""
    generator, streams = ToyGenerator(latent_shape), Streams(0)
    numbers = torch.tensor(attempts)[:, None] * starts + torch.arange(starts)
    labels = numbers % 3
    rows = zip(numbers.flatten().tolist(), labels.flatten(), strict=True)
    latents = torch.cat([generator.sample(y[None], streams.at("origin", n)) for n, y in rows])
    shaped = latents.unflatten(0, (len(attempts), starts))
    return Lanes(Starts(torch.tensor(attempts), shaped, labels, torch.full_like(labels, -1)), generator.space, streams)


def lanes_for(search: Any, attempts: list[int], latent_shape: tuple[int, ...] = (3,)) -> Lanes:
    """Toy lanes with as many origins as this search starts from."""
    return toy_lanes(attempts, latent_shape, search.starts if isinstance(search, Populous) else 1)


def toy_roles(objective: Any = None, also: tuple[str, ...] = ()) -> dict[str, Role]:
    """A toy classifier in every role that a part may ask for, and the roles that an objective makes of them."""
    roles = {name: _toy(name) for name in (TESTED, *OTHERS)}
    if objective is not None:
        roles = with_derived(roles, objective)
        also = (*also, *objective.reads)
    return {**{name: _toy(name) for name in also}, **roles}


def _toy(name: str) -> Role:
    classifier: Any = ToyClassifier(name)
    return make_role(name, classifier)


def evaluated(
    latents: Latents,
    lanes: Lanes,
    rows: Tensor,
    roles: dict[str, Role],
    layers: dict[str, tuple[str, ...]] | None = None,
    which: Tensor | None = None,
    memory: State | None = None,
    shared: State | None = None,
) -> Evaluation:
    """Latents (N, *latent) of candidates in these lanes (N,) under the toy models, in the precision they come in."""
    place = (rows, torch.zeros_like(rows) if which is None else which)
    labels, targets = lanes.starts.labels[place], lanes.starts.targets[place]
    images = ToyGenerator(tuple(latents.shape[1:])).decode(latents, labels)
    outputs, activations = {}, {}
    for name, role in roles.items():
        if wanted := (layers or {}).get(name, ()):
            assert isinstance(role.classifier, Inspectable)
            outputs[name], activations[name] = role.classifier.inspect(images, wanted)
        else:
            outputs[name] = role.classifier(images)
    origins = lanes.starts.latents[place].to(latents.dtype)
    return Evaluation(latents, images, origins, labels, targets, outputs, activations, rows, memory or {}, shared or {})


def suggested_objective(search: Any) -> Any:
    """The objective that a search suggests, or the usual one."""
    said = search.suggests(OTHERS).get("objective") if isinstance(search, Suggests) else None
    said = said or Recipe.model_fields["objective"].default.use
    table = {"use": said} if isinstance(said, str) else dict(said)
    return build("objectives", table.pop("use"), table)


def play(search: Any, lanes: Lanes, rounds: int, state: State | None = None) -> State:
    """Let a search run for some rounds against the toy models, with the objective it suggests."""
    state = search.begin(lanes) if state is None else state
    objective = suggested_objective(search)
    shared = toy_shared(objective)
    memory = objective.begin(lanes, shared) if isinstance(objective, Remembers) else {}
    for _ in range(rounds):
        proposal = search.ask(state, lanes)
        feedback = toy_feedback(proposal, lanes, objective, memory, shared)
        state = search.tell(state, lanes, proposal, feedback)
        if isinstance(objective, Remembers):
            memory = objective.absorb(memory, lanes, proposal, feedback)
    return state


def toy_shared(objective: Any) -> State:
    """What a run shares at first, fitted on the toy models and their images."""
    setting = Setting(toy_roles(objective), toy_data(), torch.device("cpu"))
    return objective.start(setting) if isinstance(objective, Shares) else {}


def toy_data(count: int = 60) -> ImageArray:
    """Images of the toy generator, as many of each class."""
    labels = torch.arange(count) % 3
    images = ToyGenerator().decode(ToyGenerator().sample(labels, torch.Generator().manual_seed(0)), labels)
    return ImageArray("toys", to_bytes(images), labels)


def toy_feedback(
    proposal: Proposal, lanes: Lanes, objective: Any = None, memory: State | None = None, shared: State | None = None
) -> Feedback:
    """Scores under the toy models and the gradients of every column; no scores where only a verdict is asked for."""
    latents = proposal.latents.detach().requires_grad_()
    objective = objective or suggested_objective(None)
    roles = toy_roles(objective)
    layers = dict(objective.reads)
    seen = evaluated(latents, lanes, proposal.lanes, roles, layers, proposal.origins, memory, shared)
    scores = objective(seen)
    slopes = [
        torch.autograd.grad(scores[:, c].sum(), latents, retain_graph=True, allow_unused=True)[0]
        for c in range(scores.shape[1])
    ]
    gradients = torch.stack([torch.zeros_like(latents) if s is None else s for s in slopes], 1)
    told = scores.detach().clone()
    told[proposal.wants == Want.VERDICT] = torch.nan
    failed = seen.outputs[TESTED].argmax(1) != seen.labels
    notes = objective.note(seen) if isinstance(objective, Notes) else {}
    return Feedback(told, failed, torch.ones(len(told), dtype=torch.long), gradients, notes)


def same(first: Tensor, second: Tensor) -> bool:
    """Equal to the bit, NaN equal to NaN."""
    return bool(torch.equal(first.nan_to_num(nan=1e30), second.nan_to_num(nan=1e30)))
