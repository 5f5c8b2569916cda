"""From noise to a picture by DDIM, and back: the way that diffusion generators decode, and by which they encode.

Song et al., "Denoising diffusion implicit models" (2021), eta = 0: every step is a function of the picture before it.
The way back solves each step for the picture it came from, with the very step function of the way there, so that what is
encoded is decoded by the same sampler. Plain inversion ("evaluate the network at the cleaner picture") is its first
round; with as few steps as a CPU allows, that alone misses by far.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

Predict = Callable[[Tensor, Tensor], Tensor]  # noisy pictures and a time to what the scheduler expects of the network


def denoised(scheduler: Any, predict: Predict, noise: Tensor) -> Tensor:
    """The picture that DDIM makes of noise.

    Where gradients are wanted, a step keeps its input alone and is computed again on the way back: the memory is that of
    one step, not of all.
    """
    pictures, lean = noise, torch.is_grad_enabled() and noise.requires_grad
    for time in scheduler.timesteps:
        if lean:
            arguments = (scheduler, predict, time, pictures)
            pictures = checkpoint(_step, *arguments, use_reentrant=False, preserve_rng_state=False)
        else:
            pictures = _step(scheduler, predict, time, pictures)
    return pictures


@torch.no_grad()
def noised(scheduler: Any, predict: Predict, pictures: Tensor, bound: float, rounds: int = 8) -> Tensor:
    """The noise of which DDIM makes pictures, nearly.

    Args:
        scheduler: a DDIM scheduler whose time steps are set.
        predict: the network.
        pictures: what should come out.
        bound: no guess leaves [-bound, bound], so that the noise is such as the search may visit.
        rounds: how often each step's guess is corrected; a round costs as much as a step of decoding.
    """
    for time in reversed(scheduler.timesteps):
        pictures = _before(scheduler, predict, time, pictures, bound, rounds)
    return pictures


def _before(scheduler: Any, predict: Predict, time: Tensor, wanted: Tensor, bound: float, rounds: int) -> Tensor:
    """The pictures that a step turns into `wanted`: corrected by what is missing, by less where that made it worse.

    Strong guidance makes the plain fixed-point iteration run away; each picture has its own pace.
    """
    pull = _pull(scheduler, int(time))
    best, missing = wanted, wanted - _step(scheduler, predict, time, wanted)
    pace = wanted.new_full((len(wanted), 1, 1, 1), 1 / pull)
    for _ in range(rounds - 1):
        guess = (best + pace * missing).clamp(-bound, bound)
        rest = wanted - _step(scheduler, predict, time, guess)
        better = (_size(rest) < _size(missing)).view(-1, 1, 1, 1)
        best, missing = torch.where(better, guess, best), torch.where(better, rest, missing)
        pace = torch.where(better, pace, pace / 2)
    return best


def _size(pictures: Tensor) -> Tensor:
    return pictures.flatten(1).square().sum(1)


def _step(scheduler: Any, predict: Predict, time: Tensor, pictures: Tensor) -> Tensor:
    cleaner: Tensor = scheduler.step(predict(pictures, time), time, pictures, eta=0.0, return_dict=False)[0]
    return cleaner


def _pull(scheduler: Any, time: int) -> float:
    """How much of a picture goes into the next one for a fixed velocity: the cosine of the angle between two steps."""
    kept, before = (
        scheduler.alphas_cumprod,
        time - scheduler.config.num_train_timesteps // scheduler.num_inference_steps,
    )
    now, after = kept[time], kept[before] if before >= 0 else scheduler.final_alpha_cumprod
    return float((now * after).sqrt() + ((1 - now) * (1 - after)).sqrt())
