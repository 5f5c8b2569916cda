"""Coverage criteria against dnn-tip and against NeuraL-Coverage's way of computing them, on made-up activations.

Run: python benchmarks/coverage_speed.py [--small]. One thread; repeats take turns, medians are given with their range.
Before anything is timed the results are compared. Two modes: what a suite covers, and what each input covers.
The claims: kMNC (k = 1000, 14,888 units as of VGG16, 100 inputs) 100 x dnn-tip and 1.5 x NeuraL-Coverage's way; DSA of
200 inputs among 5,000 100 x dnn-tip; LSA finite wherever scipy's logpdf is.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from dnn_tip.neuron_coverage import KMNC as TheirKMNC
from dnn_tip.surprise import DSA as TheirDSA
from dnn_tip.surprise import LSA as TheirLSA
from scipy.stats import gaussian_kde
from torch import Tensor

from foible.coverage import Batch, Profile, Scope, fitted, from_values
from foible.registry import build
from measure import in_turns, write


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="a tenth of the units and one repeat: only to see that it runs"
    )
    small = parser.parse_args().small
    torch.set_num_threads(1)
    repeats = 1 if small else 5
    figures: dict[str, Any] = {"load before": round(os.getloadavg()[0], 1), "dnn-tip": version("dnn-tip")}
    figures |= kmnc(1_489 if small else 14_888, repeats)
    figures |= dsa(500 if small else 5_000, repeats)
    figures |= lsa()
    write("coverage_speed_small" if small else "coverage_speed", figures | {"load after": round(os.getloadavg()[0], 1)})


def half_normal(count: int, units: int, seed: int) -> Tensor:
    """Activations as after a ReLU."""
    return torch.randn(count, units, generator=torch.Generator().manual_seed(seed)).abs()


def kmnc(units: int, repeats: int, k: int = 1000, inputs: int = 100) -> dict[str, Any]:
    scope = Scope(("all",), (units,))
    profile = fitted([from_values(half_normal(100, units, seed), scope) for seed in range(10)])
    batch = from_values(half_normal(inputs, units, 99), scope)
    ours, compat = (build("coverage", "kmnc", {"profile": profile, "k": k, "compat": c}) for c in ("none", "dnn-tip"))
    theirs, table = TheirKMNC([profile.low.numpy()], [profile.high.numpy()], k), Table(profile, k)
    array = [batch.values.numpy()]

    compat.absorb(batch)
    covered = theirs(array)[1].any(0).reshape(-1)
    assert np.array_equal(covered, compat.covered(compat.state).numpy())
    nlc = build("coverage", "kmnc", {"profile": profile, "k": k, "compat": "nlc"})
    nlc.absorb(batch)
    table.calculate(batch.values)
    assert int(table.covered[:, 1:].sum()) == int(nlc.covered(nlc.state).sum())
    del covered

    def fresh(run: Callable[[Any, Batch], Any]) -> Callable[[], Any]:
        def once() -> None:
            ours.state = ours.empty()
            run(ours, batch)

        return once

    def their_way() -> None:
        table.covered.zero_()
        table.calculate(batch.values)

    times = in_turns(
        {
            "ours, suite": fresh(lambda c, b: c.absorb(b)),
            "ours, each input": fresh(lambda c, b: c.observe(b)),
            "NeuraL-Coverage's way": their_way,
            "dnn-tip": lambda: theirs(array),
        },
        repeats,
    )
    return {
        "kmnc": times,
        "kmnc: dnn-tip over ours, suite": ratio(times, "dnn-tip", "ours, suite"),
        "kmnc: dnn-tip over ours, each input": ratio(times, "dnn-tip", "ours, each input"),
        "kmnc: NeuraL-Coverage's way over ours, suite": ratio(times, "NeuraL-Coverage's way", "ours, suite"),
    }


class Table:
    """How NeuraL-Coverage keeps sections: a table (units, k + 1) for each batch, joined with the one so far."""

    def __init__(self, profile: Profile, k: int) -> None:
        self.low, self.high, self.k = profile.low, profile.high, k
        self.covered = torch.zeros(len(self.low), k + 1, dtype=torch.bool)

    def calculate(self, values: Tensor) -> None:
        """Take in a batch; section 0 stands for outside."""
        inside = (self.high > self.low) & (values >= self.low) & (values <= self.high)
        fresh = torch.zeros(len(self.low), self.k + 1, dtype=torch.bool)
        width = torch.where(self.high > self.low, self.high - self.low, 1e-6)
        section = torch.ceil((values - self.low) / width * self.k).long() * inside
        fresh[torch.arange(len(self.low)), section] = True
        self.covered = fresh | self.covered


def dsa(known: int, repeats: int, inputs: int = 200, width: int = 84) -> dict[str, Any]:
    scope = Scope(("trace",), (width,), classes=10)
    classes = torch.arange(known) % 10
    train = from_values(half_normal(known, width, 1) + 0.1 * classes[:, None], scope, classes)
    test = from_values(half_normal(inputs, width, 2), scope, torch.arange(inputs) % 10)
    profile = fitted([train], keep=known)
    bounds = {"lower": 0.0, "upper": 3.0}
    ours = build("coverage", "dsa", {"profile": profile, **bounds})
    theirs = TheirDSA(train.values.numpy(), classes.numpy())
    traces, labels = test.values.numpy(), test.predicted.numpy()

    def silent() -> Any:
        with contextlib.redirect_stderr(io.StringIO()):
            return theirs(traces, labels)

    def anew() -> Tensor:
        ours.to_others.fill_(torch.nan)  # what earlier repeats have worked out
        return ours.of(test)

    np.testing.assert_allclose(anew().numpy(), silent(), rtol=1e-4)
    times = in_turns({"ours": anew, "dnn-tip": silent}, repeats)
    return {"dsa": times, "dsa: dnn-tip over ours": ratio(times, "dnn-tip", "ours")}


def lsa(known: int = 500, width: int = 84) -> dict[str, Any]:
    """How many of inputs ever farther away have a finite score."""
    scope = Scope(("trace",), (width,), classes=1)
    train = from_values(half_normal(known, width, 3), scope, torch.zeros(known, dtype=torch.int64))
    far = half_normal(50, width, 4) * torch.linspace(1, 50, 50)[:, None]
    settings = {
        "profile": fitted([train], keep=known),
        "lower": 0.0,
        "upper": 1e3,
        "least_variance": 0.0,
        "most_units": 0,
    }
    ours = build("coverage", "lsa", settings).of(from_values(far, scope, torch.zeros(50, dtype=torch.int64)))
    exact = -gaussian_kde(train.values.double().numpy().T).logpdf(far.double().numpy().T)
    with contextlib.redirect_stdout(io.StringIO()):
        theirs = TheirLSA(train.values.double().numpy())(far.double().numpy())
    np.testing.assert_allclose(ours.numpy()[np.isfinite(exact)], exact[np.isfinite(exact)], rtol=1e-8)
    finite = {
        "ours": int(ours.isfinite().sum()),
        "scipy logpdf": int(np.isfinite(exact).sum()),
        "dnn-tip": int(np.isfinite(theirs).sum()),
    }
    return {"lsa: finite of 50 far inputs": finite}


def ratio(times: dict[str, Any], one: str, other: str) -> float:
    return round(times[one]["median"] / times[other]["median"], 2)


if __name__ == "__main__":
    main()
