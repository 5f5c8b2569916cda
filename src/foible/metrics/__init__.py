"""Numbers about outcomes and findings: pure functions, each with the interval or test that belongs to it."""

from foible.metrics.agreement import Agreement, agreement
from foible.metrics.costs import Spread, evaluations_per_failure, spread
from foible.metrics.paired import Paired, paired
from foible.metrics.pairs import ClassPair, class_pairs
from foible.metrics.rates import Rate, rate

__all__ = [
    "Agreement",
    "ClassPair",
    "Paired",
    "Rate",
    "Spread",
    "agreement",
    "class_pairs",
    "evaluations_per_failure",
    "paired",
    "rate",
    "spread",
]
