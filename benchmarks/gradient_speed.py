"""How much faster searches by gradients are than the published loop: same weights, same origins, one process, MNIST and its VAE.

Three parts, each a comparison inside one process:

- `origins`: origins per second of a whole campaign (confirmation, PNGs, store; no judge, no steadiness, which the published
  loop lacks) with plain and steady `descent` and with `transfer`, over the loop's;
- `counts`: failures that count per minute, over those of the loop followed by the same judge and the same look at steadiness;
- `overhead`: a `descent` campaign, steady (the default) and plain, over the bare forward and backward passes that it makes (in its own chunks, one after the
  other on all threads; beside it the same passes side by side, each on one thread), and what the judge adds.

Wall time and processor time are both given: on a machine that does other things too, the second is the one to look at.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from against_published_loop import as_published, origin_latents
from foible.batching import side_by_side
from foible.campaign import Campaign, assemble, load_recipe, run
from foible.campaign.evaluate import Evaluator
from foible.campaign.prepare import batches_of
from foible.campaign.steadiness import steadiness
from foible.campaign.steer import counting
from foible.images import rounded
from foible.objectives.margin import margin
from foible.records import Outcome
from foible.searches.extent import initial_step
from foible.store import open_run
from foible.types import TESTED, Proposal, State, Status, Want
from measure import new_folder, write
from published_loop import Searched, search_one_seed

PLAIN: dict[str, Any] = {"validators": [], "steadiness": False}
SEARCHES = {
    "descent": {"search": {"use": "descent", "steady": False}},
    "descent, steady": {"search": {"use": "descent"}},
    "transfer": {"search": {"use": "transfer", "steady": False}},
}
REPEATS = 3
RATES = ("per_minute", "per_cpu_minute")


class Taken(NamedTuple):
    """Seconds on the wall and of the processor."""

    wall: float
    cpu: float


def taken(function: Callable[[], Any]) -> Taken:
    """What one call takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return Taken(time.perf_counter() - wall, time.process_time() - cpu)


def campaign_of(attempts: int, domain: str = "mnist", **changes: Any) -> Campaign:
    """The published MNIST setting or another domain's like it, with another search."""
    tested = "mnist-deepconv" if domain == "mnist" else f"{domain}-vgg"
    recipe = {"domain": domain, "generator": f"{domain}-vae", "classifier": tested, "attempts": attempts}
    return assemble(load_recipe(recipe | {"baseline": {"attempts": 0}, "budget": {"evaluations": 3760}} | changes))


class Ran(NamedTuple):
    """What one campaign took, from its check to its last commit, what became of its accepted origins, and how many findings count."""

    taken: Taken
    outcomes: list[Outcome]
    counts: int


def one_run(campaign: Campaign) -> Ran:
    """Run a campaign into a folder of its own."""
    folder = new_folder() / "run"
    spent = taken(lambda: run(campaign, folder))
    opened = open_run(folder)
    outcomes = [o for o in opened.outcomes() if o.accepted]
    return Ran(spent, outcomes, sum(bool(f.counts) for f in opened.findings()))


def timed(campaign: Campaign) -> Ran:
    """The median campaign of a few, by the clock; a first one warms up."""
    ran = [one_run(campaign) for _ in range(REPEATS + 1)][1:]
    return sorted(ran, key=lambda r: r.taken.wall)[len(ran) // 2]


def published(campaign: Campaign, outcomes: list[Outcome]) -> tuple[Taken, list[Searched], torch.Tensor]:
    """The published loop from these origins."""
    generator, classifier = as_published(campaign.generator.network), as_published(campaign.classifier.network.module)
    origins = origin_latents(campaign, generator, outcomes).detach()
    bounds = (float(campaign.generator.space.low), float(campaign.generator.space.high))
    step = initial_step("high", campaign.generator.space)
    random.seed(0)
    torch.manual_seed(0)
    searched: list[Searched] = []

    def loop() -> None:
        for outcome, origin in zip(outcomes, origins, strict=True):
            searched.append(search_one_seed(generator, classifier, origin[None], outcome.label, bounds, step))

    return taken(loop), searched, origins


def per_origin(spent: Taken, count: int) -> dict[str, float]:
    return {"origins": count, "ms": round(1e3 * spent.wall / count, 2), "cpu_ms": round(1e3 * spent.cpu / count, 2)}


def origins_per_second(attempts: int, few: int) -> dict[str, Any]:
    """Milliseconds per origin, and how many times faster than the loop."""
    figures: dict[str, Any] = {}
    for name, changes in SEARCHES.items():
        campaign = campaign_of(attempts, **PLAIN, **changes)
        spent, outcomes, _ = timed(campaign)
        found = sum(o.status is Status.FOUND for o in outcomes)
        figures[name] = per_origin(spent, len(outcomes)) | {"found": found}
    spent, searched, _ = published(campaign, outcomes[:few])
    figures["published loop"] = per_origin(spent, len(searched)) | {"found": sum(s.found for s in searched)}
    theirs = figures["published loop"]
    for name in SEARCHES:
        figures[name] |= {f"times_faster_{k}": round(theirs[k] / figures[name][k], 1) for k in ("ms", "cpu_ms")}
    return figures


def counts_per_minute(attempts: int, few: int) -> dict[str, Any]:
    """Failures that count per minute, the judge's time included on both sides."""
    campaign = campaign_of(attempts, **SEARCHES["descent, steady"])
    spent, outcomes, ours = timed(campaign)
    loop, searched, origins = published(campaign, outcomes[:few])
    theirs = 0

    def judge() -> None:
        nonlocal theirs
        found = [k for k, s in enumerate(searched) if s.found]
        images = rounded(torch.stack([searched[k].image for k in found]))
        labels = torch.tensor([outcomes[k].label for k in found])
        evaluator = Evaluator(campaign, 16)
        with torch.inference_mode():
            still = margin(campaign.classifier(images), labels) < 0
            before = rounded(campaign.generator.decode(origins[found], labels))
            nowhere, none = origins[found], torch.full_like(labels, -1)
            said = steadiness(evaluator, images, before, nowhere, nowhere, labels, none)
        steady = torch.tensor([all(v.accepted for v in one) for one in said])
        theirs = int((still & steady & counting(campaign.validators, images, labels)).sum())

    judged = taken(judge)
    whole = Taken(loop.wall + judged.wall, loop.cpu + judged.cpu)
    figures = {
        "descent, steady": _minutes(spent, ours, len(outcomes)),
        "published loop": _minutes(whole, theirs, len(searched)),
    }
    mine, other = figures.values()
    return figures | {f"times_more_{k}": round(mine[k] / other[k], 1) if theirs else None for k in RATES}


def _minutes(spent: Taken, counts: int, origins: int) -> dict[str, Any]:
    rates = {rate: round(60 * counts / seconds, 1) for rate, seconds in zip(RATES, spent, strict=True)}
    return {"origins": origins, "count": counts, "cpu_seconds": round(spent.cpu, 1)} | rates


def overhead(attempts: int, domain: str, search: str, rounds: int = REPEATS) -> dict[str, Any]:
    """A whole campaign over its bare passes, taking turns: made as the campaign makes them, and side by side."""
    campaign = campaign_of(attempts, domain, **PLAIN, **SEARCHES[search])
    chunk = batches_of(campaign).chunk
    with counting_rows() as passes:
        outcomes = one_run(campaign).outcomes
    passes |= {"encoded": attempts, "rendered": attempts + len(outcomes), "classified": len(outcomes)}
    tasks: dict[str, Callable[[], Taken]] = {
        "campaign": lambda: one_run(campaign).taken,
        "bare": lambda: taken(lambda: bare_passes(campaign, passes, chunk)),
        "bare_abreast": lambda: taken(lambda: bare_passes(campaign, passes, chunk, abreast=True)),
    }
    times: dict[str, list[Taken]] = {name: [] for name in tasks}
    for turn in range(rounds + 1):  # the first warms up
        for name, task in tasks.items():
            spent = task()
            times[name] += [spent] if turn else []
    middle = {name: Taken(*(statistics.median(c) for c in zip(*all_, strict=True))) for name, all_ in times.items()}
    ratios = {
        name: [whole.wall / bare.wall for whole, bare in zip(times["campaign"], times[name], strict=True)]
        for name in ("bare", "bare_abreast")
    }
    return {
        "ratio": round(statistics.median(ratios["bare"]), 3),
        "ratio_abreast": round(statistics.median(ratios["bare_abreast"]), 3),
        "ratios": {name: [round(ratio, 3) for ratio in each] for name, each in ratios.items()},
        "cpu_ratio": round(middle["campaign"].cpu / middle["bare"].cpu, 3),
        **{f"{name}_seconds": [round(s, 3) for s in taken_] for name, taken_ in middle.items()},
        "rounds": rounds,
        "failures": sum(o.status is Status.FOUND for o in outcomes),
        "attempts": attempts,
        "chunk": chunk,
        "passes": passes,
    }


@contextmanager
def counting_rows() -> Iterator[dict[str, int]]:
    """How many candidates are evaluated meanwhile, by what is wanted of them."""
    counted: Counter[str] = Counter()
    evaluate = Evaluator._rows

    def counting(self: Evaluator, want: Want, proposal: Proposal, *rest: Any) -> State:
        counted[want.name] += len(proposal.lanes)
        return evaluate(self, want, proposal, *rest)

    Evaluator._rows = counting  # type: ignore[method-assign]
    try:
        yield counted
    finally:
        Evaluator._rows = evaluate  # type: ignore[method-assign]


def bare_passes(campaign: Campaign, passes: dict[str, int], chunk: int, abreast: bool = False) -> None:
    """As many images through the networks as a campaign has sent, in full chunks, and nothing else.

    One chunk after the other, each on all threads; or side by side, each on one.

    Args:
        campaign: whose networks.
        passes: images by kind: "encoded" real ones, "rendered" (decoded and classified: starts, and failures to be confirmed),
            "classified" (read back from their PNG), and candidates by what is wanted of them.
        chunk: images at a time.
        abreast: side by side.
    """
    labels = torch.zeros(chunk, dtype=torch.long)
    latents = campaign.generator.sample(labels, torch.Generator().manual_seed(0))
    images = campaign.data.images(torch.arange(chunk))
    asked = {want.name: roles for want, roles in Evaluator(campaign, chunk).asked.items()}

    def answers(made: torch.Tensor, roles: Sequence[str]) -> torch.Tensor:
        return torch.stack([campaign.roles[role].classifier(made).sum() for role in roles]).sum()

    def pass_(kind: str) -> None:
        if kind in {"GRADIENTS", "GUIDE"}:
            z = latents.clone().requires_grad_()
            torch.autograd.grad(answers(campaign.generator.decode(z, labels), asked[kind]), z)
            return
        with torch.inference_mode():
            if kind == "encoded":
                campaign.generator.encode(images, labels)
            elif kind == "classified":
                campaign.classifier(images)
            else:
                answers(campaign.generator.decode(latents, labels), asked.get(kind, (TESTED,)))

    chunks = [kind for kind, count in passes.items() for _ in range(-(-count // chunk))]
    if abreast:
        side_by_side(pass_, chunks)
        return
    for kind in chunks:
        pass_(kind)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parts", nargs="+", choices=["origins", "counts", "overhead"])
    arguments.add_argument("--domains", nargs="+", default=["mnist"], help="of the overhead; the rest is MNIST's")
    arguments.add_argument("--attempts", type=int, default=200)
    arguments.add_argument("--published", type=int, default=200, help="origins of the published loop at most")
    chosen = arguments.parse_args()
    for name in chosen.parts:
        if name == "overhead":
            figures = {
                f"{domain}, {search}, {size} attempts": overhead(size, domain, search)
                for domain in chosen.domains
                for search in ("descent, steady", "descent")
                for size in (chosen.attempts, 3 * chosen.attempts)
            }
            judged = timed(campaign_of(chosen.attempts, **SEARCHES["descent"]))
            figures["with steadiness and judge"] = per_origin(judged.taken, len(judged.outcomes))
        else:
            part = origins_per_second if name == "origins" else counts_per_minute
            figures = part(chosen.attempts, chosen.published)
        write(f"gradient_speed_{name}", figures)


if __name__ == "__main__":
    main()
