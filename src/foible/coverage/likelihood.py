"""Surprise as an unlikely trace: LSA by kernel density, MLSA by a mixture of Gaussians; all in log space.

LSA (Kim, Feldt and Yoo, ICSE 2019): minus the log density of the trace among those of its class, by a Gaussian kernel
with Scott's bandwidth and the class's full covariance. MLSA (Kim et al., ESEC/FSE 2020): minus the log likelihood under
a mixture fitted to the class.

Differs from others in: densities are never taken out of log space, so that far inputs have finite scores (dnn-tip's are
infinite there). A covariance that is singular up to rounding gets a ridge. "nlc" takes a
round kernel of width 0.2. "dnn-tip" fits one density to all classes, as its classes do when used alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from foible.coverage.surprise import LEAST, Surprise, by_class, scattered
from foible.errors import DataError, MissingExtra

NOISE = 1e-10  # of the largest variance: what single-precision values leave in directions that do not vary
ROUND = 0.2  # the width of NeuraL-Coverage's kernel


class Kernel(NamedTuple):
    """Traces of a class, whitened by the kernel's covariance."""

    whiten: Tensor  # (D, D)
    traces: Tensor  # (D, T)
    half: Tensor  # (T,): half of their squared lengths
    constant: float  # log of the number of traces and of the kernel's volume


@dataclass(eq=False)
class LSA(Surprise):
    """Likelihood-based surprise.

    Args:
        buckets: how many degrees of surprise.
        lower: where the first bucket begins.
        upper: where the last one ends.
        factor: without `upper`: how many times as far as ordinary inputs reach.
        least_variance: units that vary less in any class are left out.
        most_units: of the rest, so many of the largest variance are used; 0 for all.
    """

    least_variance: float = 1e-5
    most_units: int = 300

    name, title = "lsa", "likelihood-based surprise coverage"
    modes: ClassVar[tuple[str, ...]] = ("dnn-tip", "nlc")
    from_zero: ClassVar[bool] = False

    def fit(self, traces: Tensor, classes: Tensor) -> None:
        """Choose units and fit a kernel for each class."""
        groups = [(0, torch.arange(len(traces)))] if self.compat == "dnn-tip" else by_class(classes)
        exact = traces.double()
        enough = [(label, rows) for label, rows in groups if len(rows) >= LEAST]
        if not enough:
            raise DataError(f"coverage '{self.name}': no class has {LEAST} traces", "profile more inputs")
        variance = torch.stack([exact[rows].var(0, correction=0) for _, rows in enough])
        varies = variance.amin(0) >= (0 if self.compat == "dnn-tip" else self.least_variance)
        self.units = varies.nonzero()[:, 0]
        if not len(self.units):
            raise DataError(
                f"coverage '{self.name}': every unit of the trace varies less than {self.least_variance:g} in some class",
                "lower least_variance, trace another layer, or measure where='pre'",
            )
        if 0 < self.most_units < len(self.units):
            order = exact.var(0, correction=0)[self.units].argsort(descending=True, stable=True)
            self.units = self.units[order[: self.most_units]].sort().values
        self.kernels = {label: self._kernel(exact[rows][:, self.units]) for label, rows in enough}

    def _kernel(self, traces: Tensor) -> Kernel:
        count, width = traces.shape
        if self.compat == "nlc":
            whiten, log_volume = torch.eye(width, dtype=torch.float64) / ROUND, width * math.log(ROUND)
        else:
            bandwidth = count ** (-1 / (width + 4))
            factor = cholesky(torch.cov(traces.T).reshape(width, width) * bandwidth**2)
            whiten = torch.linalg.solve_triangular(factor, torch.eye(width, dtype=torch.float64), upper=False).T
            log_volume = float(factor.diagonal().log().sum())
        constant = math.log(count) + log_volume + width / 2 * math.log(2 * math.pi)
        white = traces @ whiten
        return Kernel(whiten, white.T, white.square().sum(1) / 2, constant)

    def score(self, traces: Tensor, classes: Tensor) -> Tensor:
        """Minus the log density."""
        exact, parts = traces.double(), []
        if len(self.units) < exact.shape[1]:
            exact = exact[:, self.units]
        groups = [(0, torch.arange(len(traces)))] if self.compat == "dnn-tip" else by_class(classes)
        for label, rows in groups:
            kernel = self._of_class(label)
            place = exact[rows] @ kernel.whiten
            # minus half of each squared distance, without the input's own length, which is the same for all
            near = torch.addmm(kernel.half, place, kernel.traces, beta=-1).logsumexp(1)
            parts.append((rows, kernel.constant + place.square().sum(1) / 2 - near))
        return scattered(parts, traces)

    def _of_class(self, label: int) -> Kernel:
        if label not in self.kernels:
            raise DataError(
                f"coverage '{self.name}': class {label} has fewer than {LEAST} traces", "profile more inputs"
            )
        return self.kernels[label]


class Mixture(NamedTuple):
    """A mixture of Gaussians."""

    log_weights: Tensor  # (K,), with the volume of each
    whiten: Tensor  # (D, K D): of each, side by side
    means: Tensor  # (K D,), whitened


@dataclass(eq=False)
class MLSA(Surprise):
    """Surprise by a mixture of Gaussians.

    Args:
        buckets: how many degrees of surprise.
        lower: where the first bucket begins.
        upper: where the last one ends.
        factor: without `upper`: how many times as far as ordinary inputs reach.
        components: Gaussians of each class.
    """

    components: int = 2

    name, title = "mlsa", "mixture-based surprise coverage"
    from_zero: ClassVar[bool] = False

    def fit(self, traces: Tensor, classes: Tensor) -> None:
        """A mixture for each class."""
        self.at_least("components", self.components, 1)
        groups = [(0, torch.arange(len(traces)))] if self.compat == "dnn-tip" else by_class(classes)
        self.mixtures = {
            label: _mixture(traces[rows].double(), min(self.components, len(rows) - 1))
            for label, rows in groups
            if len(rows) >= LEAST
        }

    def score(self, traces: Tensor, classes: Tensor) -> Tensor:
        """Minus the log likelihood."""
        exact, parts = traces.double(), []
        groups = [(0, torch.arange(len(traces)))] if self.compat == "dnn-tip" else by_class(classes)
        for label, rows in groups:
            if label not in self.mixtures:
                raise DataError(
                    f"coverage '{self.name}': class {label} has fewer than {LEAST} traces", "profile more inputs"
                )
            mixture = self.mixtures[label]
            apart = torch.addmm(mixture.means, exact[rows], mixture.whiten, beta=-1)
            square = apart.unflatten(1, (len(mixture.log_weights), -1)).square().sum(2)
            parts.append((rows, -(mixture.log_weights - 0.5 * square).logsumexp(1)))
        return scattered(parts, traces)


def _mixture(traces: Tensor, components: int) -> Mixture:
    try:
        from sklearn.mixture import GaussianMixture
        from threadpoolctl import threadpool_limits  # comes with it
    except ImportError:
        raise MissingExtra("scikit-learn", "training", "coverage 'mlsa'") from None
    fitted: Any = GaussianMixture(components, random_state=0)
    with threadpool_limits(1):  # on a busy machine its threads wait for each other, up to a hundred times as long
        fitted.fit(traces.numpy())
    whiten = torch.from_numpy(fitted.precisions_cholesky_)
    volume = whiten.diagonal(dim1=1, dim2=2).log().sum(1) - traces.shape[1] / 2 * math.log(2 * math.pi)
    means = torch.einsum("kd,kde->ke", torch.from_numpy(fitted.means_), whiten)
    side_by_side = whiten.transpose(0, 1).flatten(1)
    return Mixture(torch.from_numpy(fitted.weights_).log() + volume, side_by_side, means.flatten())


def cholesky(covariance: Tensor) -> Tensor:
    """The lower factor of a covariance (D, D), which gets a ridge where it is singular up to rounding of the values."""
    spectrum = torch.linalg.eigvalsh(covariance)
    ridge = (NOISE * spectrum[-1].clamp_min(1e-300) - spectrum[0]).clamp_min(0)
    factor: Tensor = torch.linalg.cholesky(covariance + ridge * torch.eye(len(covariance), dtype=torch.float64))
    return factor
