"""Contract tests of what looks at evaluations: objectives, what they remember, and oracles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from foible.faces import Inspectable, Leaves, Remembers, Shares
from foible.protocols import Lanes, Role
from foible.testing.play import evaluated, same, toy_lanes, toy_roles, toy_shared
from foible.types import Evaluation, Feedback, Proposal, State

STEP = 1e-6  # of finite differences, in double precision
ATTEMPTS = [0, 1, 2, 3]


def some_candidates(lanes: Lanes, each: int = 3) -> Proposal:
    """A few candidates around the origin of every lane."""
    seeds = [torch.Generator().manual_seed(attempt) for attempt in lanes.attempts.tolist()]
    noise = torch.stack([torch.randn(each, *lanes.space.shape, generator=rng) for rng in seeds])
    latents = lanes.space.clamp(lanes.origins[:, None] + noise)
    return Proposal(latents.flatten(0, 1), torch.arange(len(lanes)).repeat_interleave(each))


class ScoringContract:
    """What objectives and oracles are given here."""

    def make(self) -> Any:
        """The part under test, with settings fit for the toy models."""
        raise NotImplementedError

    def roles(self, part: Any) -> dict[str, Role]:
        """Toy classifiers in the roles that it reads."""
        return toy_roles(part)

    def seen(
        self, part: Any, lanes: Lanes, candidates: Proposal, memory: State | None = None, plain: bool = False
    ) -> Evaluation:
        """Candidates under the toy models; `plain` without what a part puts around them, such as rounding to 8 bits."""
        layers = dict(part.reads) if isinstance(part.reads, Mapping) else {}
        roles = self.roles(part) | (toy_roles() if plain else {})
        for name, wanted in layers.items():
            assert not wanted or isinstance(roles[name].classifier, Inspectable), "say in `roles` what shows its layers"
        return evaluated(candidates.latents, lanes, candidates.lanes, roles, layers, candidates.origins, memory)


class ObjectiveContract(ScoringContract):
    """What the engine relies on in every objective."""

    def scores(self, latents: Tensor | None = None, rows: Tensor | None = None, plain: bool = False) -> Tensor:
        """Scores of some candidates, of those in these rows alone where given."""
        objective, lanes = self.make(), toy_lanes(ATTEMPTS)
        candidates = some_candidates(lanes)
        if latents is not None:
            candidates = replace(candidates, latents=latents)
        if rows is not None:
            candidates = Proposal(*(getattr(candidates, f)[rows] for f in ("latents", "lanes", "origins", "wants")))
        memory = objective.begin(lanes, self.shared(objective)) if isinstance(objective, Remembers) else {}
        evaluation = self.seen(objective, lanes, candidates, memory, plain)
        result: Tensor = objective(replace(evaluation, shared=self.shared(objective)))
        return result

    def shared(self, objective: Any) -> State:
        """What the first wave shares; override it where that is fitted on data."""
        return toy_shared(objective)

    def test_a_row_per_candidate_and_a_column_per_name(self) -> None:
        """Finite scores of the announced shape, and names that differ."""
        objective, scores = self.make(), self.scores()
        assert tuple(scores.shape) == (12, len(objective.names)) and len(set(objective.names)) == len(objective.names)
        assert bool(torch.isfinite(scores).all())

    def test_neighbours_do_not_matter(self) -> None:
        """A candidate scored alone, or in another order, gets what it gets in company."""
        whole, order = self.scores(), torch.arange(11, -1, -1)
        assert torch.allclose(self.scores(rows=order), whole[order], rtol=1e-6, atol=1e-6)
        assert torch.allclose(self.scores(rows=torch.tensor([5])), whole[[5]], rtol=1e-6, atol=1e-6)

    def test_gradients_are_what_a_small_step_shows(self) -> None:
        """In double precision; a column that lends no gradient lends zeros. Wrappers that round have none to show."""
        objective = self.make()
        latents = some_candidates(toy_lanes(ATTEMPTS)).latents.double().requires_grad_()
        scores = self.scores(latents, plain=True)
        if not scores.requires_grad or not any(self.roles(objective)[name].lends for name in objective.reads):
            return
        rng = torch.Generator().manual_seed(1)
        direction = torch.randn(latents.shape, generator=rng, dtype=latents.dtype)
        with torch.no_grad():
            ahead, behind = (self.scores(latents.detach() + h * direction, plain=True) for h in (STEP, -STEP))
        for column in range(scores.shape[1]):
            (slope,) = torch.autograd.grad(scores[:, column].sum(), latents, retain_graph=True, allow_unused=True)
            if slope is None or not bool(slope.any()):
                continue
            along = (slope * direction).flatten(1).sum(1)
            measured = (ahead[:, column] - behind[:, column]) / (2 * STEP)
            assert torch.allclose(along, measured, rtol=1e-4, atol=1e-4 * float(measured.abs().max()))


class MemoryContract(ObjectiveContract):
    """What the engine relies on in an objective that remembers; all that of objectives, and this."""

    def remembered(self, attempts: list[int], rounds: int = 3) -> State:
        """What searches of these attempts remember after some rounds."""
        objective, lanes = self.make(), toy_lanes(attempts)
        shared = self.shared(objective)
        memory: State = objective.begin(lanes, shared)
        for _ in range(rounds):
            candidates = some_candidates(lanes)
            evaluation = replace(self.seen(objective, lanes, candidates, memory), shared=shared)
            scores, none = objective(evaluation), torch.zeros(len(candidates.lanes), dtype=torch.bool)
            feedback = Feedback(scores, none, torch.ones(len(none)).long(), notes=objective.note(evaluation))
            memory = objective.absorb(memory, lanes, candidates, feedback)
        return memory

    def test_memory_has_lanes_first(self) -> None:
        """One row per lane, and lanes do not see each other: each remembers what it would alone."""
        together = self.remembered(ATTEMPTS)
        for row, attempt in enumerate(ATTEMPTS):
            alone = self.remembered([attempt])
            assert all(len(value) == 1 for value in alone.values())
            assert all(same(alone[name][0], together[name][row]) for name in together)

    def test_padded_rows_leave_no_trace(self) -> None:
        """What is noted of a candidate does not depend on rows that fill the chunk and are cut off."""
        objective, lanes = self.make(), toy_lanes(ATTEMPTS)
        shared, candidates = self.shared(objective), some_candidates(toy_lanes(ATTEMPTS))
        memory = objective.begin(lanes, shared)
        padded = Proposal(
            torch.cat([candidates.latents, candidates.latents[-1:].repeat(4, *[1] * (candidates.latents.ndim - 1))]),
            torch.cat([candidates.lanes, candidates.lanes[-1:].repeat(4)]),
        )
        alone, with_padding = (
            objective.note(replace(self.seen(objective, lanes, some, memory), shared=shared))
            for some in (candidates, padded)
        )
        assert all(same(alone[name], with_padding[name][: len(candidates.lanes)]) for name in alone)

    def test_merging_does_not_depend_on_the_split(self) -> None:
        """All searches of a wave merged at once, or one after the other in their order; of the latter what they leave."""
        objective = self.make()
        if not isinstance(objective, Shares):
            return
        ended, start = self.remembered(ATTEMPTS), self.shared(objective)
        at_once, one_by_one = objective.merge(start, ended), start
        ended = objective.leaves(ended) if isinstance(objective, Leaves) else ended
        for k in range(len(ATTEMPTS)):
            one_by_one = objective.merge(one_by_one, {name: value[k : k + 1] for name, value in ended.items()})
        assert all(same(at_once[name], one_by_one[name]) for name in at_once)


class OracleContract(ScoringContract):
    """What the engine relies on in every oracle."""

    def roles(self, part: Any) -> dict[str, Role]:
        """Toy classifiers in the roles that it reads."""
        return toy_roles(also=tuple(part.reads))

    def failed(self, lanes: Lanes, candidates: Proposal) -> Tensor:
        """What the oracle says."""
        oracle = self.make()
        said: Tensor = oracle(self.seen(oracle, lanes, candidates))
        return said

    def test_a_word_per_candidate(self) -> None:
        """True or false for each, and which roles it asks and whether a label is expected."""
        oracle, lanes = self.make(), toy_lanes(ATTEMPTS)
        said = self.failed(lanes, some_candidates(lanes))
        assert said.dtype == torch.bool and tuple(said.shape) == (12,)
        assert oracle.reads and isinstance(oracle.expects, bool)

    def test_the_same_again_whoever_stands_beside(self) -> None:
        """Nothing random, nothing remembered, and neighbours do not matter."""
        lanes = toy_lanes(ATTEMPTS)
        candidates = some_candidates(lanes)
        said = self.failed(lanes, candidates)
        assert torch.equal(said, self.failed(lanes, candidates))
        for row in range(12):
            alone = Proposal(candidates.latents[[row]], candidates.lanes[[row]])
            assert torch.equal(self.failed(lanes, alone), said[[row]])

    def test_silent_on_what_every_classifier_gets_right(self) -> None:
        """An image of which all roles say the same, and the expected class, is no failure.

        One that asks for something else than mistakes says `indifferent = True`; its origins are none.
        """
        if getattr(self.make(), "indifferent", False):
            lanes = toy_lanes(ATTEMPTS)
            assert not bool(self.failed(lanes, Proposal(lanes.origins, torch.arange(len(lanes)))).any())
            return
        lanes = toy_lanes(ATTEMPTS)
        latents = torch.full((len(ATTEMPTS), 3), -2.0)
        latents[torch.arange(len(ATTEMPTS)), lanes.starts.labels[:, 0]] = 2.0
        assert not bool(self.failed(lanes, Proposal(latents, torch.arange(len(ATTEMPTS)))).any())
