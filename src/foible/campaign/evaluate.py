"""Evaluate candidates: decode, classify, score and, where asked, go backwards; chunk by chunk, keeping only rows.

Images and activations do not outlive their chunk, so memory does not grow with the number of candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.batching import Chunks, Packing
from foible.campaign.assemble import Campaign
from foible.campaign.steer import turned_back, worsened
from foible.errors import ModelError, RecipeError
from foible.faces import Encoder, Guided, Guides, Inspectable, Mixes, Notes
from foible.images import rounded
from foible.protocols import Lanes
from foible.types import TESTED, Arm, Evaluation, Feedback, Images, Latents, Proposal, Starts, State, Want

BACKWARD = {Want.GRADIENTS, Want.GUIDE}
FEW = 4  # confirmations come a few at a time: where chunks are always full, a small one wastes little on padding
MANY = 16  # for a search that follows gradients and brings them by the dozen; where the number of rows is free, a chunk


@dataclass(frozen=True)
class Rendered:
    """What a few latents look like after 8-bit rounding: images (N, C, H, W), and logits (N, classes) by role."""

    images: Images
    outputs: Mapping[str, Tensor]

    def rows(self, index: Tensor) -> Rendered:
        """Some of them."""
        return Rendered(self.images[index], {role: logits[index] for role, logits in self.outputs.items()})


class Evaluator:
    """Runs a campaign's networks in chunks; everything comes back on the CPU."""

    def __init__(self, campaign: Campaign, chunk: int, packing: Packing = Packing.FULL, arm: Arm = Arm.SEARCH) -> None:
        self.campaign = campaign
        search = campaign.searches[arm]
        self.follows = search.follows if isinstance(search, Guided) else ()
        self.mixes = search.mixes if isinstance(search, Mixes) else ()
        self.chunks = Chunks(chunk, packing)
        few = chunk if packing is Packing.GRAINS else min(MANY if self.follows else FEW, chunk)
        self.few = Chunks(few, packing)
        shown = dict.fromkeys((TESTED, *campaign.oracle.reads))
        self.shown = tuple(role for role in shown if not campaign.roles[role].free)
        judging, objective = campaign.oracle.reads, campaign.objective
        whole = tuple(dict.fromkeys((*judging, *objective.reads)))
        weighs, guides = (objective.weighs, objective.guides) if isinstance(objective, Guides) else (whole, whole)
        self.asked = {
            Want.VERDICT: judging,
            Want.SCORES: tuple(dict.fromkeys((*judging, *weighs))),
            Want.GRADIENTS: whole,
            Want.GUIDE: guides,
        }
        self.prices = torch.tensor([self._price(want) for want in Want])

    def price(self, proposal: Proposal) -> Tensor:
        """What each candidate will cost (M,), before the work is done; forward 1, backward 2 per column followed."""
        return self.prices[proposal.wants]

    def __call__(self, proposal: Proposal, lanes: Lanes, memory: State, shared: State) -> Feedback:
        """Scores, failures, cost and gradients of candidates."""
        parts = []
        wants = proposal.wants.unique().tolist()
        for want in wants:
            rows = (proposal.wants == want).nonzero()[:, 0]
            asked = proposal if len(wants) == 1 else proposal.rows(rows)
            parts.append((rows, self._rows(Want(want), asked, lanes.starts, memory, shared)))
        columns = self._in_order(parts, len(proposal.lanes))
        self._refuse_nonsense(proposal.wants, columns)
        if self.follows and "gradients" not in columns:  # a search that follows them is told zero where it did not ask
            shape = (len(proposal.lanes), columns["scores"].shape[1], *proposal.latents.shape[1:])
            columns["gradients"] = torch.zeros(shape)
        notes = {name.removeprefix("note."): v for name, v in columns.items() if name.startswith("note.")}
        return Feedback(
            columns["scores"],
            columns["failed"],
            self.price(proposal) + columns["judged"],
            columns.get("gradients"),
            notes,
            columns.get("refused"),  # type: ignore[arg-type]
        )

    def trace(self, proposal: Proposal, lanes: Lanes) -> Tensor:
        """All numbers that the roles give for candidates, (M, numbers): outputs, and gradients where asked for.

        Nothing is remembered and no objective with a memory is asked: for measuring the networks themselves.
        """
        (want,) = proposal.wants.unique().tolist()
        backward = want in BACKWARD

        def numbers(latents: Tensor, rows: Tensor) -> State:
            latents = latents.detach().requires_grad_(backward)
            labels = lanes.starts.labels[rows.cpu(), 0].to(latents.device)
            images = self.campaign.generator.decode(latents, labels)
            outputs = [self._ask(name, images)[0].flatten(1) for name in self.asked[Want(want)]]
            told = torch.cat([images.flatten(1), *outputs], 1)
            if backward and told.requires_grad:
                told = torch.cat([told, torch.autograd.grad(told.sum(), latents)[0].flatten(1)], 1)
            return {"numbers": told.detach()}

        return self._run(self.chunks, numbers, proposal.latents, proposal.lanes, grad=backward)["numbers"]

    def render(self, latents: Latents, labels: Tensor) -> Rendered:
        """Images of latents as they would be stored, and what the counted roles say of them."""

        def look(z: Tensor, y: Tensor) -> State:
            images = rounded(self.campaign.generator.decode(z, y))
            return {"images": images, **self._answers(images)}

        said = dict(self._run(self.few, look, latents, labels))
        return Rendered(said.pop("images"), said)

    def classify(self, images: Images) -> Mapping[str, Tensor]:
        """Logits of a few images, by role."""
        return self._run(self.few, self._answers, images)

    def encode(self, images: Images, labels: Tensor) -> Latents:
        """Latents of real images."""
        generator = self.campaign.generator
        assert isinstance(generator, Encoder)
        return self._run(self.few, lambda x, y: {"latents": generator.encode(x, y)}, images, labels)["latents"]

    def failed(self, shown: Rendered, latents: Latents, origins: Latents, labels: Tensor, targets: Tensor) -> Tensor:
        """What the oracle says of images that have been looked at."""
        return self.campaign.oracle(Evaluation(latents, shown.images, origins, labels, targets, shown.outputs))

    def _answers(self, images: Images) -> State:
        return {role: self.campaign.roles[role].classifier(images) for role in self.shown}

    def _price(self, want: Want) -> int:
        paid = {name: self.campaign.roles[name] for name in self.asked[want] if not self.campaign.roles[name].free}
        forward = sum(role.cost for role in paid.values())
        if want not in BACKWARD:
            return forward
        read = [role for name, role in paid.items() if name in self.campaign.objective.reads and role.lends]
        passes = 1 if self.mixes else len(self.follows)
        return forward + 2 * passes * sum(role.cost for role in read)

    def _rows(self, want: Want, proposal: Proposal, starts: Starts, memory: State, shared: State) -> State:
        def evaluate(latents: Tensor, lanes: Tensor, which: Tensor, aims: Tensor) -> State:
            return self._evaluate(want, latents, lanes, which, aims, starts, memory, shared)

        lanes, which, aims = proposal.lanes, proposal.origins, proposal.targets
        aims = starts.targets[lanes, which] if aims is None else aims
        rows = (proposal.latents, lanes, which, aims)
        return self._run(self.chunks, evaluate, *rows, groups=lanes, grad=want in BACKWARD)

    def _evaluate(
        self,
        want: Want,
        latents: Tensor,
        lanes: Tensor,
        which: Tensor,
        targets: Tensor,
        starts: Starts,
        memory: State,
        shared: State,
    ) -> State:
        """One chunk, inside the networks' device."""
        campaign, device = self.campaign, latents.device
        labels, _, origins = (t.to(device) for t in starts.at(lanes.cpu(), which.cpu()))
        backward = want in BACKWARD
        latents = latents.detach().requires_grad_(backward)
        images = campaign.generator.decode(latents, labels)
        outputs: dict[str, Tensor] = {}
        activations: dict[str, Mapping[str, Tensor]] = {}
        for name in self.asked[want]:
            outputs[name], activations[name] = self._ask(name, images)
        evaluation = Evaluation(latents, images, origins, labels, targets, outputs, activations, lanes, memory, shared)
        none = torch.zeros(len(lanes), dtype=torch.bool, device=device)
        quick, steers = want is Want.GUIDE, campaign.recipe.steers  # a quick look is not shown to the validators,
        unseen = (quick and steers) or not set(campaign.oracle.reads) <= set(outputs)  # and finds no failure then
        columns = {
            "scores": self._scores(want, evaluation),
            "failed": none if unseen else campaign.oracle(evaluation),
            "finite": torch.stack([~none if n not in outputs else _finite(outputs[n]) for n in campaign.roles], 1),
            "judged": torch.zeros(len(lanes), dtype=torch.long, device=device),
        }
        if want is not Want.VERDICT and isinstance(campaign.objective, Notes):
            columns |= {f"note.{k}": v for k, v in campaign.objective.note(evaluation).items()}
        if backward:
            columns["gradients"] = self._gradients(columns["scores"], latents)
        if steers and not quick:
            columns |= turned_back(campaign.validators, images, labels, columns["failed"])
            if not self.follows:  # whoever follows the slope of a score needs it as it is
                columns["scores"] = worsened(columns["scores"], columns["refused"])
        return {name: value.detach() for name, value in columns.items()}

    def _ask(self, name: str, images: Images) -> tuple[Tensor, Mapping[str, Tensor]]:
        role, layers = self.campaign.roles[name], self.campaign.objective.reads.get(name, ())
        with torch.set_grad_enabled(torch.is_grad_enabled() and role.lends):
            if not layers:
                return role.classifier(images), {}
            assert isinstance(role.classifier, Inspectable)
            return role.classifier.inspect(images, layers)

    def _scores(self, want: Want, evaluation: Evaluation) -> Tensor:
        objective, count = self.campaign.objective, len(evaluation.labels)
        if want is Want.VERDICT:
            return torch.full((count, len(objective.names)), torch.nan, device=evaluation.labels.device)
        scores = objective(evaluation)
        if tuple(scores.shape) != (count, len(objective.names)):
            raise RecipeError(
                f"objective '{self.campaign.recipe.objective.use}' gave scores of shape {tuple(scores.shape)} for "
                f"{count} candidates, expected ({count}, {len(objective.names)})",
                f"one row per candidate, one column for each of: {', '.join(objective.names)}",
            )
        return scores

    def _gradients(self, scores: Tensor, latents: Tensor) -> Tensor:
        """(N, columns, *latent): one backward pass per column followed serves the whole chunk, rows being independent."""
        gradients = torch.zeros(len(latents), scores.shape[1], *latents.shape[1:], device=latents.device)
        heights = {column: scores[:, column].sum() for column in self.follows}
        if self.mixes:
            weighted = zip(self.mixes, heights.values(), strict=True)
            heights = {self.follows[0]: torch.stack([weight * height for weight, height in weighted]).sum()}
        for column, height in heights.items():
            last = column == list(heights)[-1]
            (slope,) = torch.autograd.grad(height, latents, retain_graph=not last, allow_unused=True)
            if slope is not None:
                gradients[:, column] = slope
        return gradients

    def _in_order(self, parts: list[tuple[Tensor, State]], total: int) -> State:
        """The columns of all rows, wherever they were computed; gradients are zero where none were asked for."""
        if len(parts) == 1:
            return parts[0][1]
        joined: State = {}
        for rows, columns in parts:
            for name, value in columns.items():
                if name not in joined:
                    joined[name] = torch.zeros(total, *value.shape[1:], dtype=value.dtype)
                joined[name][rows] = value
        return joined

    def _refuse_nonsense(self, wants: Tensor, columns: State) -> None:
        """NaN is named with whoever made it: a classifier first, then the objective."""
        for role, finite in zip(self.campaign.roles.values(), columns["finite"].T, strict=True):
            if not bool(finite.all()):
                raise ModelError(
                    f"classifier '{role.classifier.name}' gave NaN or infinite scores for {int((~finite).sum())} "
                    "candidates",
                    "an image in [0, 1] must give finite scores: look for a log or a division in the model",
                )
        scored = columns["scores"][(wants == Want.SCORES) | (wants == Want.GRADIENTS)]
        followed = columns["scores"][wants == Want.GUIDE][:, list(self.follows)]
        for scores, names in (
            (scored, self.campaign.objective.names),
            (followed, [self.campaign.objective.names[c] for c in self.follows]),
        ):
            bad = ~scores.isfinite().all(0)
            if bool(bad.any()):
                column = names[int(bad.nonzero()[0, 0])]
                raise RecipeError(
                    f"objective '{self.campaign.recipe.objective.use}' gave NaN or infinite values in column '{column}'",
                    "the classifiers' scores are finite: look for a log or a division in the objective",
                )

    def _run(
        self,
        chunks: Chunks,
        function: Callable[..., State],
        *rows: Tensor,
        groups: Tensor | None = None,
        grad: bool = False,
    ) -> State:
        device = self.campaign.device
        mode = torch.enable_grad() if grad else torch.inference_mode()

        def on_device(*chunk: Tensor) -> State:
            return {name: value.cpu() for name, value in function(*(x.to(device) for x in chunk)).items()}

        with mode:
            said: State = chunks(on_device, *rows, groups=groups)
        return said


def _finite(logits: Tensor) -> Tensor:
    return logits.detach().flatten(1).isfinite().all(1)
