"""What was measured of disagreements, in plain lines: variety, growth, who is right, filters, drift by class."""

from __future__ import annotations

from collections.abc import Sequence

from foible.differing.answers import Answers
from foible.differing.filters import Sieved
from foible.differing.growth import Growth, fewest_queries
from foible.differing.parity import Parity
from foible.differing.reuse import Reuse
from foible.differing.selection import Selection, Wins
from foible.differing.selector import Selector
from foible.differing.several import Together
from foible.differing.variety import Variety
from foible.metrics.diversity import NEAR
from foible.metrics.rates import Rate
from foible.plain import plain
from foible.training.realism import Realism

MOST = 8  # regions and classes listed


def variety_lines(variety: Variety) -> list[str]:
    """How different they are."""
    near, volume = variety.neighbours.median, variety.volume
    lines = [
        f"variety      {variety.near} further than {NEAR:g} from each other, {variety.exact} distinct to the last bit, "
        f"of {variety.images}",
        f"             {variety.pairs.distinct} label pairs, worth {variety.pairs.effective:.1f} equally frequent ones"
        + (f"; the nearest other one is {near:.3f} away (median)" if near is not None else ""),
        f"             log-volume {volume.log_volume:.1f} of {volume.images} images in {variety.features}",
    ]
    if variety.published is not None:
        lines.append(
            f"             as published: Shannon {variety.published.shannon:.2f} (counts lit pixels, not differences), "
            f"geometric {variety.published.geometric:.1f} (large for nearly equal images too)"
        )
    return lines


def realism_lines(seen: Realism) -> list[str]:
    """How far they are from real images, as a set."""
    return [
        f"FID {seen.fid:.2f}, KID {seen.kid:.4f} of {seen.made} disagreements against {seen.real} real images ({seen.extractor})"
    ]


def growth_lines(curves: Sequence[Growth]) -> list[str]:
    """Distinct disagreements after as many queries as every curve has."""
    queries = fewest_queries(curves)
    counts = ", ".join(f"{c.name} {c.after(queries)}" for c in curves)
    return [f"after {queries} queries: {counts} distinct disagreements"]


def selection_lines(selection: Selection, classes: tuple[str, ...]) -> list[str]:
    """Who is right, and where."""
    overall = selection.overall
    if overall.a + overall.b == 0:
        return []
    lines = ["", f"of the times that one was right, A was {_share(overall.rate)}{_better(overall)}"]
    for wins in selection.regions[:MOST]:
        low, high = (plain(classes[k]) for k in wins.place)  # type: ignore[attr-defined]
        if wins.a + wins.b:
            lines.append(
                f"  {low} or {high}: {wins.disagreements} disagreements, A right {_share(wins.rate)}{_better(wins)}"
            )
    return lines


def selector_lines(selector: Selector) -> list[str]:
    """The selector beside its baselines."""
    lines = [
        f"run-time selector on {selector.features}: {selector.only_a} images only A gets right, {selector.only_b} only B"
    ]
    return lines + [
        f"  {choice.name:<24} right {_share(choice.accuracy)}, balanced {choice.balanced:.3f}"
        for choice in selector.choices
    ]


def drift_lines(answers: Answers, classes: tuple[str, ...]) -> list[str]:
    """Flips and gaps by class, the worst first."""
    worst = sorted(answers.by_class(), key=lambda d: (-d.flips, -d.largest_gap))[:MOST]
    return [
        f"  {plain(classes[d.label])}: {d.flips} of {d.images} flipped, gap of a probability {d.mean_gap:.2g} on average, "
        f"{d.largest_gap:.3g} at most"
        for d in worst
    ]


def sieve_lines(sieved: Sequence[Sieved]) -> list[str]:
    """What each filter lets through."""
    return [f"filter {s.name:<14} {s.before} before, {s.after} after ({s.alone} by itself)" for s in sieved]


def together_lines(seen: Together) -> list[str]:
    """How often each two disagree."""
    width = max(7, *(len(plain(n)[:14]) + 1 for n in seen.names))
    head = "".ljust(16) + "".join(plain(n)[:14].rjust(width) for n in seen.names) + "  alone"
    rows = [
        plain(name)[:14].ljust(16) + "".join(str(n).rjust(width) for n in row) + str(alone).rjust(7)
        for name, row, alone in zip(seen.names, seen.pairs.tolist(), seen.alone.tolist(), strict=True)
    ]
    return [f"on {seen.images} real images; not all of one mind on {seen.divided}", head, *rows]


def parity_lines(parity: Parity, classes: tuple[str, ...]) -> list[str]:
    """The map of drift."""
    lines = [
        f"largest drift of a score from {plain(parity.rows[0].model)} in batches of {parity.rows[0].batch}, "
        f"{parity.images} images; its smallest margin is {parity.closest:.3g}",
        f"{'model':<28}{'batch':>6}{'exactly equal':>15}{'flips':>7}{'median drift':>14}{'largest':>11}",
    ]
    lines += [
        f"{plain(r.model)[:27]:<28}{r.batch:>6}{r.exact:>15}{r.flips:>7}{r.drift.median or 0:>14.3g}{r.largest:>11.3g}"
        for r in parity.rows
    ]
    lines.append("by class: " + ", ".join(f"{plain(classes[c])} {worst:.2g}" for c, worst in parity.by_class))
    if parity.unsteady:
        lines.append(f"other numbers when asked twice: {', '.join(map(plain, parity.unsteady))}")
    return lines


def reuse_lines(reuse: Reuse) -> list[str]:
    """Whether B makes A's mistakes."""
    everyone = [("B, ", reuse.b), *(("unrelated ", u) for u in reuse.unrelated)]
    lines = [f"of {reuse.images} images just across A's boundary, A's wrong class is also named by"]
    lines += [f"  {who}{plain(one.name)}: {_share(one.shared)}" for who, one in everyone]
    verdict = "B makes A's mistakes: derived from it" if reuse.derived else "no sign that B is derived from A"
    return [*lines, f"{verdict} (rank among them p = {reuse.p:.3g}; against the closest p = {reuse.closest:.2g})"]


def _share(rate: Rate) -> str:
    if rate.share is None or rate.low is None or rate.high is None:
        return f"{rate.count} of {rate.total}"
    return f"{rate.count} of {rate.total} ({rate.share:.0%}, {rate.low:.0%} to {rate.high:.0%})"


def _better(wins: Wins) -> str:
    """The decision, and on how many starting images it rests."""
    rests = f"from {wins.origins} starting image{'' if wins.origins == 1 else 's'}"
    return f", {rests}: {wins.better} is better" if wins.better else f", {rests}: undecided"
