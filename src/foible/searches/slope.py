"""Steps along a slope in a latent space's own units, and cuts of the way back: what searches by gradients share."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from foible.protocols import Lanes
from foible.types import LatentSpace, State

LONGEST, SHORTEST = 0.35, 0.02  # of the length of a typical latent: between these are all steps
INERTIA = 0.5  # how much of the last heading a step keeps
GROWTH = 1.2  # how much longer a step may be than the last one where the margin falls
NEAR = 0.5  # of the reach: a failure that seems so close is looked for with care
TINY = 1e-12  # a slope that is no slope
EDGE = 0.1  # of what is left of the way back: no cut is nearer to one of its ends
DOUBT = 0.4  # how far a cut is drawn from the straight line's place to the middle
LEVEL = 0.1  # of the steepness: a heading along which the margin falls less is taken to be as steep as this


def downhill(
    state: State,
    lanes: Lanes,
    margins: Tensor,
    slopes: Tensor,
    keep: float | Tensor,
    overshoot: float,
    longest: float | None = None,
) -> State:
    """One bounded step towards where the margin would be -keep if it were linear; whether that is `near`, or it is `stuck`.

    Steps straight down a narrow valley go from wall to wall, and their reach is halved until they crawl. With `longest` a step
    keeps a part of its last heading, and the reach grows where the margin falls.

    Args:
        state: with "latents" (L, *latent), the last "margin" (L,) and how far a step may "reach" (L,); where steps have
            inertia, also the last "heading" (L, *latent), of length 1, or 0 at the start.
        lanes: the searches under way.
        margins: at these latents (L,).
        slopes: their gradients (L, *latent).
        keep: margin by which a failure must fail, one for all or (L,).
        overshoot: how much further to go.
        longest: how far the reach may grow; left out: it does not, and steps have no inertia.
    """
    scale, length = natural_scale(lanes.space), natural_length(lanes.space)
    slopes = slopes * scale
    steepness = _lengths(slopes)
    reach = torch.where(margins > state["margin"], state["reach"] / 2, state["reach"])
    heading, fall = slopes / wide(steepness, slopes), steepness
    if longest is not None:
        heading = heading + INERTIA * state["heading"]
        heading = heading / wide(_lengths(heading), heading)
        fall = torch.maximum((slopes * heading).flatten(1).sum(1), LEVEL * steepness)
        falls = state["margin"].isfinite() & (margins < state["margin"])
        reach = torch.where(falls, (reach * GROWTH).clamp_max(longest), reach)
    guess = (margins + keep).clamp_min(0) * (1 + overshoot) / fall
    size = torch.minimum(guess.clamp_min(SHORTEST * length), reach * length)
    latents = lanes.space.clamp(state["latents"] - wide(size, heading) * heading * scale)
    stuck = (steepness <= TINY) | (reach < SHORTEST / 4)
    return {
        "latents": latents,
        "reach": reach,
        "heading": heading,
        "near": guess <= NEAR * reach * length,
        "stuck": stuck,
    }


def _lengths(vectors: Tensor) -> Tensor:
    """Of one vector per lane (L,), never zero, so that they can be divided by."""
    lengths: Tensor = torch.linalg.vector_norm(vectors.flatten(1), dim=1)
    return lengths.clamp_min(TINY)


def halved(low: Tensor, high: Tensor, which: Tensor, fails: Tensor) -> tuple[Tensor, Tensor]:
    """The part of the way back in which the last failure lies, after the middle was looked at."""
    middle = (low + high) / 2
    return torch.where(which & ~fails, middle, low), torch.where(which & fails, middle, high)


def cut(low: Tensor, high: Tensor, above: Tensor, below: Tensor, keep: float) -> Tensor:
    """Where to look next between two places (L,): near where the margin would be -keep on a straight line from one to the other.

    Args:
        low: where it does not fail by `keep`, and
        high: where it does, each (L,).
        above: the margin at low, and
        below: at high. Where they are not on either side of -keep, as with a failure that validators refuse, the middle is looked at.
        keep: margin by which a failure must fail.
    """
    share = ((above + keep) / (above - below).clamp_min(TINY)).clamp(EDGE, 1 - EDGE)
    share = torch.lerp(share, torch.full_like(share, 0.5), DOUBT)
    known = above.isfinite() & below.isfinite() & (above > -keep) & (below <= -keep)
    return low + torch.where(known, share, 0.5) * (high - low)


def natural_scale(space: LatentSpace) -> Tensor:
    """How much each coordinate varies by itself: one that never varies is left alone."""
    return space.step.expand(space.shape)


def natural_length(space: LatentSpace) -> float:
    """The length of a typical latent, counted in natural scales: the square root of the coordinates that vary."""
    return math.sqrt(int((natural_scale(space) > 0).sum()))


def wide(values: Tensor, like: Tensor) -> Tensor:
    """Values (L,) shaped so that they broadcast over the latents of a lane."""
    return values.view(-1, *[1] * (like.dim() - 1))


def where(mask: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Latents of the first where the lane's mask is true, of the second elsewhere."""
    return torch.where(wide(mask, first), first, second)
