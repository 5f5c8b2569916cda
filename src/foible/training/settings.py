"""How to train: the `[fit]` table of a training recipe, and the optimiser and schedule it describes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import nn

from foible.errors import RecipeError


class FitSettings(BaseModel):
    """How to train: the `[fit]` table of a training recipe."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: int = Field(20, ge=1)
    batch: int = Field(128, ge=1)
    optimiser: Literal["adamw", "sgd"] = "adamw"
    learning_rate: float = Field(1e-3, gt=0)
    rates: dict[str, Annotated[float, Field(gt=0)]] = {}  # parts that learn so many times as fast, by name
    momentum: float = Field(0.9, ge=0, lt=1)  # of SGD, and the first beta of AdamW
    second_moment: float = Field(0.999, ge=0, lt=1)  # the second beta of AdamW
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["constant", "one-cycle"] = "one-cycle"
    patience: int | None = Field(None, ge=1)
    average: float = Field(0.0, ge=0, lt=1)  # decay of a running average of the weights; 0 = off
    validation: float = Field(0.08, gt=0, lt=1)
    seed: int = 0


def optimisers_for(parts: Mapping[str, nn.Module], settings: FitSettings) -> dict[str, torch.optim.Optimizer]:
    """An optimiser for each part of a network, by name."""
    if unknown := sorted(settings.rates.keys() - parts.keys()):
        raise RecipeError(f"rates: there is no part '{unknown[0]}'", f"parts: {', '.join(parts)}")
    return {name: _optimiser(part, settings, settings.rates.get(name, 1.0)) for name, part in parts.items()}


def _optimiser(part: nn.Module, settings: FitSettings, rate: float) -> torch.optim.Optimizer:
    learning_rate = rate * settings.learning_rate
    if settings.optimiser == "sgd":
        return torch.optim.SGD(
            part.parameters(),
            learning_rate,
            settings.momentum,
            weight_decay=settings.weight_decay,
            nesterov=settings.momentum > 0,
        )
    betas = (settings.momentum, settings.second_moment)
    return torch.optim.AdamW(part.parameters(), learning_rate, betas, weight_decay=settings.weight_decay)


def schedule_for(
    optimiser: torch.optim.Optimizer, settings: FitSettings, steps: int
) -> torch.optim.lr_scheduler.LRScheduler:
    """The learning rate over a whole training of `steps` per epoch."""
    total = steps * settings.epochs
    rate = {"constant": lambda _: 1.0, "one-cycle": lambda step: one_cycle(step, total)}[settings.schedule]
    return torch.optim.lr_scheduler.LambdaLR(optimiser, rate)


def one_cycle(step: int, total: int, rising: float = 0.2) -> float:
    """Share of the learning rate at a step: up in a straight line for a fifth of the training, then down to 0."""
    top = max(1.0, rising * total)
    if step < top:
        return 0.04 + 0.96 * step / top
    return 0.5 + 0.5 * math.cos(math.pi * min(1.0, (step - top) / max(1.0, total - top)))
