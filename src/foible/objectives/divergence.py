"""Two classifiers apart, and far from what the search has found: the two numbers of DiffGAN.

    paper                       here
    divergence of p and q       |p - q| + 1 where the labels differ; negated, because columns are minimised
    diversity                   distance to the nearest disagreement in the archive; negated
    archive                     memory of a search: the last `room` disagreements

Two vectors of probabilities with the same largest entry are less than 1 apart, so every disagreement ranks above every
agreement. Among agreements distance alone is a poor guide: nearly identical classifiers are nowhere far apart, and disagree
where one of them is about to change its mind. So agreements rank by both (`nearness`). Novelty counts up to `enough`: whatever
is far from all finds is new, and being still farther from them brings no disagreement.

The archive holds images as they would be stored, in bytes, looked at in `look` (channels, height, width): where that is the
images' own shape nothing is lost, otherwise they are averaged to it. The distance to all of it is exact and costs one
matrix product (`metrics/nearest.py`). When more than `room` disagreements are found, the oldest make place. A search of
100,000 disagreements needs the same memory as one of `room`: room x features bytes per lane.

Differs from the original in: the exact nearest neighbour, where the original clusters the archive anew in every
generation; one image for classifiers and archive; an empty archive is as far as anything can be, where the original takes
100 real images; distance of pixels rather than of their angles, which ink and brightness drive; `nearness` and `enough`
(`metric = "cosine"`, `boundary = false` and `enough = 1` are the published ones).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool3d

from foible.errors import RecipeError, did_you_mean
from foible.metrics.nearest import Metric, nearest
from foible.protocols import Lanes
from foible.types import RIVAL, TESTED, Evaluation, Feedback, Images, Proposal, State

METRICS = ("euclidean", "cosine")
SEEN = "seen"  # the note by which a search can measure novelty itself
PAIR = "pair"  # the note by which it can tell label pairs apart
FARTHEST = 1.0  # the distance of black and white, or of images that share no bright pixel
GRID = 2**20  # columns are multiples of 1 / GRID: the last bits of a softmax may depend on its place in a batch


@dataclass(frozen=True)
class Divergence:
    """How far apart two classifiers are on an image, and how new it is among the disagreements found; both negated.

    Args:
        room: disagreements that a search remembers.
        look: channels, height and width in which images are compared.
        metric: "euclidean" (root mean square of the pixels' differences) or "cosine".
        enough: the distance beyond which everything is equally new; 1 is the published setting.
        boundary: whether agreements also rank by how near either classifier is to another answer.
        rivals: the roles of the others; of several the one farthest apart from the tested classifier counts.
    """

    room: int = 1000
    look: tuple[int, int, int] = (1, 28, 28)
    metric: Metric = "euclidean"
    enough: float = 0.1
    boundary: bool = True
    rivals: tuple[str, ...] = (RIVAL,)

    names: ClassVar[tuple[str, ...]] = ("divergence", "novelty")

    def __post_init__(self) -> None:
        object.__setattr__(self, "look", tuple(self.look))
        if self.room < 1 or len(self.look) != 3 or min(self.look) < 1:
            raise RecipeError(
                f"objective divergence: room {self.room} must be at least 1, look {list(self.look)} three numbers above 0",
                "look = [1, 28, 28] is channels, height and width",
            )
        if self.metric not in METRICS:
            raise RecipeError(f"objective divergence: metric '{self.metric}'", did_you_mean(self.metric, METRICS))
        if not 0 < self.enough <= FARTHEST:
            raise RecipeError(f"objective divergence: enough {self.enough} must be above 0 and at most {FARTHEST:.0f}")
        object.__setattr__(self, "rivals", named_rivals("objective divergence", self.rivals))

    @property
    def reads(self) -> Mapping[str, tuple[str, ...]]:
        """All of them, no layers."""
        return dict.fromkeys((TESTED, *self.rivals), ())

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Columns (N, 2)."""
        tested = evaluation.outputs[TESTED]
        how = nearness if self.boundary else divergence
        apart = torch.stack([how(tested, evaluation.outputs[r]) for r in self.rivals]).amax(0)
        columns = torch.stack([apart, self._novelty(evaluation).to(apart)], 1)
        return columns.neg().mul(GRID).round().div(GRID).float()

    def begin(self, lanes: Lanes, shared: State) -> State:  # noqa: ARG002
        """Empty archives."""
        features = prod(self.look)
        return {
            "archive": torch.zeros(len(lanes), self.room, features, dtype=torch.uint8),
            "found": torch.zeros(len(lanes), dtype=torch.long),
        }

    def note(self, evaluation: Evaluation) -> State:
        """Each candidate as the archive would hold it, and what the tested classifier and its first rival say."""
        tested, rival = (evaluation.outputs[role] for role in (TESTED, self.rivals[0]))
        pair = tested.argmax(1) * tested.shape[1] + rival.argmax(1)
        return {SEEN: looked_at(evaluation.images, self.look), PAIR: pair}

    def absorb(self, memory: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """Disagreements enter in the order of the proposal; beyond `room` the oldest leave."""
        archive, found = memory["archive"].clone(), memory["found"].clone()
        for lane in range(len(lanes)):
            rows = (feedback.failed & (proposal.lanes == lane)).nonzero()[:, 0]
            if len(rows):
                places = (found[lane] + torch.arange(len(rows))) % self.room
                archive[lane, places[-self.room :]] = feedback.notes[SEEN][rows[-self.room :]]
                found[lane] += len(rows)
        return {"archive": archive, "found": found}

    def _novelty(self, evaluation: Evaluation) -> Tensor:
        """Distance (N,) to the nearest image in the archive of a candidate's lane, at most `enough`."""
        seen = looked_at(evaluation.images, self.look)
        new = torch.full((len(seen),), float(self.enough), device=seen.device)
        for lane in evaluation.lanes.unique().tolist():
            count = min(int(evaluation.memory["found"][lane]), self.room)
            if count:
                rows = (evaluation.lanes == lane).nonzero()[:, 0]
                archive = evaluation.memory["archive"][lane, :count].to(seen.device)
                new[rows] = distances(seen[rows], archive, self.metric).clamp_max(self.enough)
        return new


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """Distance (N,) of two classifiers' probabilities, from their scores (N, classes); 1 more where labels differ."""
    apart = torch.linalg.vector_norm(first.double().softmax(1) - second.double().softmax(1), dim=1)
    total: Tensor = apart + (first.argmax(1) != second.argmax(1))
    return total


def nearness(first: Tensor, second: Tensor) -> Tensor:
    """As `divergence` (N,), but agreements are at most 1: the mean of their distance and of how near another answer is.

    With m the smaller of both gaps between the two largest scores, another answer is 1 / (1 + m) near.
    """
    tops = [scores.double().topk(2, dim=1).values for scores in (first, second)]
    gap = torch.minimum(*(top[:, 0] - top[:, 1] for top in tops))
    apart = divergence(first, second)
    return torch.where(first.argmax(1) == second.argmax(1), (apart + 1 / (1 + gap)) / 2, apart)


def looked_at(images: Images, look: tuple[int, int, int]) -> Tensor:
    """Images as rows of bytes (N, features), averaged to `look` where they have another shape."""
    same = tuple(images.shape[1:]) == tuple(look)
    small = images if same else adaptive_avg_pool3d(images[:, None], look)[:, 0]
    return small.flatten(1).mul(255).round().clamp(0, 255).to(torch.uint8)


def distances(rows: Tensor, archive: Tensor, metric: Metric, own: Tensor | None = None) -> Tensor:
    """How far (N,) each row of bytes is from the nearest of an archive, 0 to 1; `own` are the places of rows themselves."""
    found = nearest(rows.float(), archive.float(), own=own, metric=metric).distances
    scaled = found / (255 * rows.shape[1] ** 0.5) if metric == "euclidean" else found
    return scaled.clamp_max(FARTHEST)


def named_rivals(who: str, rivals: tuple[str, ...]) -> tuple[str, ...]:
    """The roles, at least one and each once."""
    if isinstance(rivals, str) or not rivals or len(set(rivals)) < len(rivals) or TESTED in rivals:
        raise RecipeError(
            f"{who}: rivals {rivals!r} must name other roles, each once", 'for example ["rival", "rival2"]'
        )
    return tuple(rivals)
