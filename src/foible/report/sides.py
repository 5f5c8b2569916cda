"""The sides of a comparison: runs, those that differ by their seed alone taken together, on origins that are the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from foible.errors import RecipeError
from foible.report.harvest import Harvest, gathers, harvest
from foible.report.trials import Trial, trials
from foible.report.wording import plural, short_name
from foible.store import Run
from foible.store.manifest import differences

Origin = tuple[int, int]  # seed and attempt

NO_CHANGE = ("name", "title", "seed", "attempts", "engine", "baseline")  # of what is searched from one origin
DRAWN_FROM = (
    "domain",
    "classes",
    "targets",
    "begins",
    "generator",
)  # of the recipe: what an origin depends on, beside data and seed


@dataclass(frozen=True)
class Side:
    """One or more runs of the same recipe under different seeds."""

    name: str
    runs: tuple[Run, ...]
    trials: Mapping[Origin, Trial]
    harvests: tuple[Harvest, ...] = ()  # of runs that keep every failure

    @property
    def recipe(self) -> dict[str, Any]:
        """What all its runs say, but for the seed."""
        return self.runs[0].manifest.recipe

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds it was run with."""
        return tuple(int(run.manifest.recipe["seed"]) for run in self.runs)

    @property
    def budget(self) -> int:
        """Evaluations an origin may cost."""
        return int(self.recipe["budget"]["evaluations"])


def sides(runs: Sequence[Run], names: Sequence[str] | None = None) -> tuple[Side, ...]:
    """Runs as sides, in the order they came.

    Args:
        runs: two or more.
        names: what to call each; the names of their folders by default.
    """
    called = names or _folder_names(runs)
    groups: dict[str, list[tuple[str, Run]]] = defaultdict(list)
    for name, run in zip(called, runs, strict=True):
        groups[_without_seed(run)].append((name, run))
    made: list[Side] = []
    for group in groups.values():
        seeds = {run.manifest.recipe["seed"] for _, run in group}
        together = [group] if len(seeds) == len(group) else [[one] for one in group]
        made += [_side([n for n, _ in part], [r for _, r in part]) for part in together]
    return tuple(made)


def sharing(found: Sequence[Side]) -> list[list[Side]]:
    """Sides in groups that share origins, for those who would rather see some comparisons than a refusal."""
    groups: list[list[Side]] = []
    for side in found:
        home = next((group for group in groups if all(not why_not(other, side) for other in group)), None)
        if home is None:
            groups.append([side])
        else:
            home.append(side)
    return groups


def must_share_origins(first: Side, second: Side) -> None:
    """Refuse two sides whose attempts do not start from the same images, saying why."""
    reasons = why_not(first, second)
    if reasons:
        raise RecipeError(
            f"'{first.name}' and '{second.name}' do not start from the same images, so they cannot be compared in pairs:"
            + "".join(f"\n    {reason}" for reason in reasons),
            "compare runs with the same domain, data, generator and seed",
        )


def why_not(first: Side, second: Side) -> list[str]:
    """What keeps two sides from sharing origins; nothing when they do."""
    one, other = first.runs[0].manifest, second.runs[0].manifest
    was, now = ({key: m.recipe.get(key) for key in DRAWN_FROM} | {"data": m.data} for m in (one, other))
    reasons = differences(was, now)
    if reasons:
        return reasons
    stem = short_name(str(one.recipe["generator"]["use"]))
    changed = [f for f in one.digests if short_name(f) == stem and one.digests[f] != other.digests.get(f)]
    if changed:
        return [f"generator: other weights under the same name, {changed[0]}"]
    if not set(first.seeds) & set(second.seeds):
        return [f"seed: {_list(first.seeds)} -> {_list(second.seeds)}"]
    shared = first.trials.keys() & second.trials.keys()
    moved = [k for k in sorted(shared) if _place(first.trials[k]) != _place(second.trials[k])]
    if moved:
        seed, attempt = moved[0]
        was_at, now_at = _place(first.trials[moved[0]]), _place(second.trials[moved[0]])
        return [f"attempt {attempt} of seed {seed}: {was_at} -> {now_at} ({plural(len(moved), 'attempt')} in all)"]
    return [] if shared else ["no attempt that both accepted has ended in both"]


def _side(names: Sequence[str], runs: Sequence[Run]) -> Side:
    name = f"{_common_start(names) or names[0]} ({len(names)} seeds)" if len(names) > 1 else names[0]
    found = {(int(run.manifest.recipe["seed"]), k): trial for run in runs for k, trial in trials(run).items()}
    return Side(name, tuple(runs), found, tuple(harvest(run) for run in runs) if all(map(gathers, runs)) else ())


def _common_start(names: Sequence[str]) -> str:
    """What all names begin with, without a dangling number or dash."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in same).rstrip("-_. 0123456789")


def _without_seed(run: Run) -> str:
    manifest = run.manifest
    recipe = {k: v for k, v in manifest.recipe.items() if k not in NO_CHANGE}
    return repr((sorted(recipe.items()), sorted(manifest.digests.items()), manifest.data))


def _folder_names(runs: Sequence[Run]) -> list[str]:
    """The shortest ends of the folders' paths that tell them apart."""
    paths = [run.layout.folder.resolve().parts for run in runs]
    for depth in range(1, max(map(len, paths), default=1) + 1):
        names = ["/".join(parts[-depth:]) for parts in paths]
        if len(set(names)) == len(names):
            return names
    return [str(run.layout.folder) for run in runs]


def _place(trial: Trial) -> str:
    return f"class {trial.label}, {trial.source}"


def _list(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))
