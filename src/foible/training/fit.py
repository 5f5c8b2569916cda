"""The training loop: epochs, learning-rate schedule, early stop, checkpoint and resume, deterministic with a seed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from foible.domains import RealImages
from foible.training.checkpoint import read_checkpoint, write_checkpoint
from foible.training.settings import FitSettings, optimisers_for, schedule_for
from foible.types import Images


class Learner(Protocol):
    """One family's side of training."""

    network: nn.Module
    watch: str | None  # the figure that early stopping watches, lower is better; None keeps the last epoch
    unaveraged: tuple[str, ...]  # submodules whose last state counts: a spectral norm is no mean of spectral norms

    @property
    def parts(self) -> Mapping[str, nn.Module]:
        """The parts of the network that are optimised separately, by name; most families have one."""
        ...

    def losses(self, images: Images, labels: Tensor, progress: float) -> Iterator[tuple[str, Tensor]]:
        """Part by part, the number to minimise; a part has been improved when the next one is asked for.

        `progress` runs from 0 to 1 over the whole training.
        """
        ...

    def measure(self, images: Images, labels: Tensor) -> dict[str, Tensor]:
        """Figures per image (N,), averaged by the caller over the held-out part."""
        ...


@dataclass
class History:
    """What happened, epoch by epoch."""

    epochs: list[dict[str, float]] = field(default_factory=list)
    seconds: float = 0.0
    best_epoch: int = 0


def fit(
    learner: Learner,
    data: RealImages,
    settings: FitSettings,
    checkpoint: Path | None = None,
    report: Callable[[dict[str, float]], None] = lambda _: None,
    advance: Callable[[float], None] = lambda _: None,
) -> History:
    """Train a learner's network in place; the weights of the best epoch are left in it.

    Args:
        learner: network, loss and figures.
        data: training images; a part is held out to watch.
        settings: the recipe's `[fit]` table.
        checkpoint: written after every epoch; training goes on from it when it exists.
        report: called with the figures of each epoch.
        advance: called after each step with the share of the training that is done.
    """
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        return _Fit(learner, data, settings, checkpoint, report, advance).run()


class _Fit:
    def __init__(
        self,
        learner: Learner,
        data: RealImages,
        settings: FitSettings,
        checkpoint: Path | None,
        report: Callable[[dict[str, float]], None],
        advance: Callable[[float], None],
    ) -> None:
        self.learner, self.data, self.settings = learner, data, settings
        self.checkpoint, self.report, self.advance = checkpoint, report, advance
        order = torch.randperm(len(data.labels), generator=torch.Generator().manual_seed(settings.seed))
        held_out = max(1, int(len(order) * settings.validation))
        self.held_out, self.training = order[:held_out], order[held_out:]
        self.steps = max(1, len(self.training) // settings.batch)
        self.optimisers = optimisers_for(learner.parts, settings)
        self.schedules = {name: schedule_for(o, settings, self.steps) for name, o in self.optimisers.items()}
        self.parameters = {n: [p for p in part.parameters() if p.requires_grad] for n, part in learner.parts.items()}
        self.average = torch.optim.swa_utils.AveragedModel(
            learner.network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(settings.average), use_buffers=True
        )
        self.history = History()
        self.best: dict[str, Tensor] = {}
        self.best_figure = float("inf")

    def run(self) -> History:
        first = self._load()
        for epoch in range(first, self.settings.epochs):
            begin = time.perf_counter()
            figures = {"epoch": epoch + 1.0, **self._epoch(epoch), **self._measure()}
            self.history.seconds += time.perf_counter() - begin
            self.history.epochs.append(figures)
            figure = figures[self.learner.watch] if self.learner.watch else -float(epoch)
            if figure < self.best_figure:
                self.best_figure, self.history.best_epoch = figure, epoch + 1
                self.best = {k: v.detach().clone() for k, v in self._judged().state_dict().items()}
            self._save(epoch + 1)
            self.report(figures)
            if self.settings.patience and epoch + 1 - self.history.best_epoch >= self.settings.patience:
                break
        self.learner.network.load_state_dict(self.best)
        self.learner.network.eval()
        return self.history

    def _judged(self) -> nn.Module:
        """The network whose figures count: the running average where there is one."""
        if not self.settings.average:
            return self.learner.network
        module: nn.Module = self.average.module
        for name in self.learner.unaveraged:
            module.get_submodule(name).load_state_dict(self.learner.network.get_submodule(name).state_dict())
        return module

    def _epoch(self, epoch: int) -> dict[str, float]:
        """One pass over the training images; the mean loss of each part, and their sum."""
        self.learner.network.train()
        batch, shuffle = self.settings.batch, torch.Generator().manual_seed(self.settings.seed * 100_003 + epoch)
        order = self.training[torch.randperm(len(self.training), generator=shuffle)]
        totals = dict.fromkeys(self.optimisers, 0.0)
        for step in range(self.steps):
            index = order[step * batch : (step + 1) * batch]
            progress = (epoch + step / self.steps) / self.settings.epochs
            for part, loss in self.learner.losses(self.data.images(index), self.data.labels[index], progress):
                totals[part] += float(loss.detach()) / self.steps
                self._improve(part, loss)
            if self.settings.average:
                self.average.update_parameters(self.learner.network)
            self.advance((epoch + (step + 1) / self.steps) / self.settings.epochs)
        parts = {f"{part}_loss": total for part, total in totals.items()} if len(totals) > 1 else {}
        return {"loss": sum(totals.values()), **parts}

    def _improve(self, part: str, loss: Tensor) -> None:
        """One optimiser step for one part; gradients reach no other part."""
        self.optimisers[part].zero_grad(set_to_none=True)
        loss.backward(inputs=self.parameters[part])
        self.optimisers[part].step()
        self.schedules[part].step()

    def _measure(self) -> dict[str, float]:
        trained, self.learner.network = self.learner.network, self._judged().eval()
        try:
            return measure(self.learner, self.data, self.held_out)
        finally:
            self.learner.network = trained

    def _save(self, epoch: int) -> None:
        if self.checkpoint is None:
            return
        state = {
            "epoch": epoch,
            "network": self.learner.network.state_dict(),
            "average": self.average.state_dict(),
            "optimisers": {name: o.state_dict() for name, o in self.optimisers.items()},
            "schedules": {name: s.state_dict() for name, s in self.schedules.items()},
            "random": torch.get_rng_state(),
            "best": self.best,
            "best_figure": self.best_figure,
            "history": asdict(self.history),
            "settings": self.settings.model_dump(),
        }
        write_checkpoint(self.checkpoint, state)

    def _load(self) -> int:
        if self.checkpoint is None or not self.checkpoint.is_file():
            return 0
        state = read_checkpoint(self.checkpoint, self.settings.model_dump())
        self.learner.network.load_state_dict(state["network"])
        self.average.load_state_dict(state["average"])
        for name in self.optimisers:
            self.optimisers[name].load_state_dict(state["optimisers"][name])
            self.schedules[name].load_state_dict(state["schedules"][name])
        torch.set_rng_state(state["random"])
        self.best, self.best_figure = state["best"], state["best_figure"]
        self.history = History(**state["history"])
        return int(state["epoch"])


@torch.no_grad()
def measure(learner: Learner, data: RealImages, index: Tensor, batch: int = 500) -> dict[str, float]:
    """A learner's figures averaged over the images at these positions, network in evaluation mode."""
    learner.network.eval()
    sums: dict[str, float] = {}
    for part in index.split(batch):
        for name, values in learner.measure(data.images(part), data.labels[part]).items():
            sums[name] = sums.get(name, 0.0) + float(values.sum())
    return {name: total / len(index) for name, total in sums.items()}
