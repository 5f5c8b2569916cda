"""The summary as flat names and numbers: what a gate can refer to, and what other tools can plot over time."""

from __future__ import annotations

from foible.metrics import Paired, Rate
from foible.report.arms import ArmSummary, arm_summary
from foible.report.counting import Counting


def flat_metrics(
    search: ArmSummary, baseline: ArmSummary | None, comparison: Paired | None, counted: Counting | None = None
) -> dict[str, int | float | None]:
    """Every number by name, None where unknown. The same names exist in every run.

    Without prefix: the search. `counting_`: the search when only failures that count are failures. `baseline_`: the baseline on all its attempts. `shared_`: both, on the origins that
    both arms accepted and finished.
    """
    flat: dict[str, int | float | None] = dict(_arm_metrics(search))
    flat |= {
        "failure_rate_low": _rate(search.stage("confirmed")).low,
        "failure_rate_high": _rate(search.stage("confirmed")).high,
        "mean_evaluations": search.evaluations_to_failure.mean,
        "mean_rounds": search.rounds.mean,
        "median_latent_distance": search.latent_distance.median,
        "median_pixel_distance": search.pixel_distance.median,
    }
    for name in ("steady", "valid", "label_kept", "counts", "valid_by_people", "label_kept_by_people"):
        judged = search.stage(name)
        flat |= {name: judged.count if judged else None, f"{name}_rate": judged.share if judged else None}
    flat |= {
        "counting_failure_rate": counted.origins.share if counted else None,
        "counting_failure_rate_low": counted.origins.low if counted else None,
        "counting_failure_rate_high": counted.origins.high if counted else None,
        "counting_evaluations_per_failure": counted.evaluations_per_failure if counted else None,
    }
    rival = _arm_metrics(baseline) if baseline else dict.fromkeys(_arm_metrics(search))
    flat |= {f"baseline_{name}": value for name, value in rival.items()}
    flat |= {
        "shared_origins": comparison.shared if comparison else None,
        "shared_failure_rate": comparison.search.share if comparison else None,
        "shared_baseline_failure_rate": comparison.baseline.share if comparison else None,
        "p_value": comparison.p_value if comparison else None,
    }
    return flat


def metric_names() -> dict[str, None]:
    """Every name that a gate can refer to, known before there is a run."""
    return dict.fromkeys(flat_metrics(arm_summary([], []), None, None))


def _arm_metrics(arm: ArmSummary) -> dict[str, int | float | None]:
    accepted, failures, confirmed = (_rate(arm.stage(name)) for name in ("accepted", "failures", "confirmed"))
    judged = arm.stage("recognised")  # None where nobody judged the origins
    recognised = judged or accepted
    return {
        "attempts": arm.attempts,
        "recognised": recognised.count,
        "recognised_rate": recognised.share,
        "accepted": accepted.count,
        "acceptance_rate": accepted.count / arm.attempts if arm.attempts else None,
        "valid_origins_rate": accepted.share if judged else None,
        "failures": failures.count,
        "confirmed": confirmed.count,
        "findings": arm.findings,
        "failure_rate": confirmed.share,
        "evaluations": arm.evaluations,
        "evaluations_per_failure": arm.evaluations_per_failure,
        "median_evaluations": arm.evaluations_to_failure.median,
    }


def _rate(rate: Rate | None) -> Rate:
    return rate if rate is not None else Rate(0, 0, None, None, None)
