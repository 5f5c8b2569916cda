"""How far one step goes: a fraction of the latent range, by name or by number.

The published study measures the range of 1000 latents and calls range / 10^4 "low" and range / 10^3 "high";
twice that is the step of the initial population and, in effect, of every mutation.
"""

from __future__ import annotations

from foible.errors import RecipeError, did_you_mean
from foible.types import LatentSpace

EXTENTS = {"low": 1e-4, "high": 1e-3}


def extent_fraction(extent: str | float) -> float:
    """The fraction of the latent range behind a name; a number stands for itself."""
    if isinstance(extent, str):
        if extent not in EXTENTS:
            raise RecipeError(
                f"no extent is called '{extent}'", did_you_mean(extent, EXTENTS) + "; a number such as 0.002 works too"
            )
        return EXTENTS[extent]
    if not 0 < extent <= 1:
        raise RecipeError(
            f"extent {extent} is not a fraction of the latent range",
            "use a number above 0 and at most 1, 'low' or 'high'",
        )
    return float(extent)


def initial_step(extent: str | float, space: LatentSpace) -> float:
    """Standard deviation of the first perturbation, in latent units."""
    return 2 * extent_fraction(extent) * space.range
