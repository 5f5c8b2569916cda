"""The result in a few sentences, the failures that count first."""

from __future__ import annotations

from foible.metrics import Paired, Rate
from foible.report.arms import ArmSummary
from foible.report.counting import Counting
from foible.report.facts import RunFacts
from foible.report.wording import count, interval, of, percent, plural


def headline(facts: RunFacts, search: ArmSummary, comparison: Paired | None, counted: Counting | None) -> str:
    """What a run came to, with denominators."""
    confirmed = search.stage("confirmed")
    if confirmed is None or confirmed.total == 0:
        return _nothing_searched(facts, search)
    lines = [_counted(facts, search.stage("counts"), counted), _confirmed(facts, search, confirmed)]
    if comparison is not None and comparison.shared:
        lines.append(_beside(facts, comparison, counted.comparison if counted else None))
    return " ".join(line for line in lines if line)


def _nothing_searched(facts: RunFacts, search: ArmSummary) -> str:
    if search.attempts == 0:
        return f"No starting image has been searched yet, of {plural(facts.attempts_planned, 'attempt')} planned."
    valid = " and the validators call valid with its label" if search.stage("recognised") else ""
    return (
        f"None of {plural(search.attempts, 'attempt')} gave a starting image that {facts.classifier} gets right{valid}."
    )


def _counted(facts: RunFacts, counts: Rate | None, counted: Counting | None) -> str:
    """Nothing where there is no failure, or none was judged: the next sentence says so."""
    if counts is None or not counts.total:
        return ""
    share = f"{percent(counts.share)}, 95 % interval {interval(counts)}"
    text = f"{of(counts)} confirmed failures of {facts.classifier} count ({share})"
    cost = counted.evaluations_per_failure if counted else None
    return text + (f", at {count(cost)} evaluations for each starting image with one." if cost is not None else ".")


def _confirmed(facts: RunFacts, search: ArmSummary, confirmed: Rate) -> str:
    valid = " and the judge calls valid" if search.stage("recognised") else ""
    text = (
        f"From {of(confirmed)} starting images that {facts.classifier} gets right{valid}, the {facts.search} search reached a "
        f"confirmed failure ({percent(confirmed.share)}, 95 % interval {interval(confirmed)})"
    )
    cost, several = search.evaluations_per_failure, search.findings > confirmed.count
    each = "starting image that led to one" if several else "failure"
    text += f", at {count(cost)} evaluations per {each}" if cost is not None else ""
    text += f"; {search.findings:,} failures in all" if several else ""
    return text + ("." if search.stage("counts") or not search.findings else "; which of them count was not judged.")


def _beside(facts: RunFacts, both: Paired, counted: Paired | None) -> str:
    text = (
        f"On the same {plural(both.shared, 'starting image')} with the same budget, {facts.baseline} search reached "
        f"{both.baseline.count:,} and {facts.search} search {both.search.count:,}"
    )
    return text + (f"; {counted.baseline.count:,} and {counted.search.count:,} that count." if counted else ".")
