"""Thresholds that were fitted to people: a small TOML file between `foible survey report` or `foible judge --refit` and the judge."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foible.errors import RecipeError
from foible.validators.parts import Weighing

USUAL = 0.5  # the threshold of what was not calibrated


class FittedThreshold(BaseModel):
    """The score from which a verdict accepts, what it was fitted on, and how often it errs on what it was not."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold: float = Field(ge=0, le=1)
    validator: str = "judge"  # whose scores
    n: int = Field(ge=0)  # findings that people have decided about, or that a share was given for
    accepted: int = Field(ge=0)  # of them, by people
    error: float | None = Field(None, ge=0, le=1)  # balanced and cross-validated; unknown where only a share was given


class FittedWeights(BaseModel):
    """What speaks for a valid image, weighed anew: the judge's columns by name, what is added, and trust in each source."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weights: dict[str, float]
    bias: float
    trust: tuple[float, ...] = Field(min_length=1)


class Calibration(BaseModel):
    """What was fitted to people: thresholds about the image (is it of the domain?) and the label (is it kept?), and weights."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    image: FittedThreshold | None = None
    label: FittedThreshold | None = None
    weighing: FittedWeights | None = None

    def reweighed(self, weighing: Weighing, columns: Sequence[str]) -> Weighing:
        """The judge's weighing as people would have it; unchanged where no weights were fitted."""
        if self.weighing is None:
            return weighing
        if tuple(self.weighing.weights) != tuple(columns) or len(self.weighing.trust) != len(weighing.trust):
            raise RecipeError(
                f"the calibration was fitted for the evidence {', '.join(self.weighing.weights)}; "
                f"here there is {', '.join(columns)}",
                'install the same readers (pip install "foible[judge]"), or fit it again: foible judge --refit RUN',
            )
        weights = torch.tensor([self.weighing.weights[c] for c in columns])
        return Weighing(weights, torch.tensor(self.weighing.bias), torch.tensor(self.weighing.trust))

    def threshold(self, about: Literal["image", "label"]) -> float:
        """The threshold of one kind of verdict; the usual one where none was fitted."""
        fitted = self.image if about == "image" else self.label
        return USUAL if fitted is None else fitted.threshold

    def save(self, path: Path) -> None:
        """Write the file."""
        import tomli_w

        try:
            path.write_text(tomli_w.dumps(self.model_dump(exclude_none=True)), encoding="utf-8")
        except OSError as error:
            raise RecipeError(f"cannot write '{path}': {error.strerror or error}", "name another file") from error

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read the file; a missing or wrong one is named."""
        try:
            return cls(**tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise RecipeError(
                f"cannot read calibration '{path}': {error.strerror or error}",
                "make one with: foible survey report RUN --recalibrate FILE",
            ) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError, TypeError) as error:
            raise RecipeError(
                f"calibration '{path}' is wrong: {error}", "make it again: foible survey report RUN --recalibrate FILE"
            ) from error
