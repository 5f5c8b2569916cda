"""How steady a failure is: the share of harmless variations under which it is still one.

Only variations count that are harmless to the origin too (the oracle stays silent, and the classifier right where a label
is expected): what a shift by a pixel breaks anyway says nothing about the failure.
"""

from __future__ import annotations

from torch import Tensor

from foible.campaign.evaluate import Evaluator, Rendered
from foible.classifiers.variations import MEASURED, varied
from foible.objectives.margin import margin
from foible.records import Verdict
from foible.types import TESTED, Images, Latents

STEADY = 0.5  # of the harmless variations: a failure that survives at least half of them is steady


def steadiness(
    evaluator: Evaluator,
    failures: Images,
    before: Images,
    latents: Latents,
    origins: Latents,
    labels: Tensor,
    targets: Tensor,
) -> list[tuple[Verdict, ...]]:
    """A verdict on each confirmed failure; none where no variation is harmless to its origin."""
    count = len(MEASURED)
    labels, targets = labels.repeat_interleave(count), targets.repeat_interleave(count)
    latents, origins = latents.repeat_interleave(count, 0), origins.repeat_interleave(count, 0)

    def looked(images: Images) -> Rendered:
        many = varied(images, list(MEASURED.values())).flatten(0, 1)
        return Rendered(many, evaluator.classify(many))

    after, first = looked(failures), looked(before)
    fails = evaluator.failed(after, latents, origins, labels, targets)
    harmless = ~evaluator.failed(first, origins, origins, labels, targets)
    if evaluator.campaign.oracle.expects:
        harmless = harmless & (margin(first.outputs[TESTED], labels) >= 0)
    fails, harmless = fails.view(-1, count), harmless.view(-1, count)
    return [_verdict(f, h) for f, h in zip(fails, harmless, strict=True)]


def _verdict(fails: Tensor, harmless: Tensor) -> tuple[Verdict, ...]:
    if not bool(harmless.any()):
        return ()
    total, still = int(harmless.sum()), int((fails & harmless).sum())
    share = still / total
    undone = [name for name, gone in zip(MEASURED, (harmless & ~fails).tolist(), strict=True) if gone]
    why = f"still fails under {still} of {total} harmless variations"
    why += f"; undone by: {', '.join(undone)}" if undone else ""
    return (Verdict("steady", share >= STEADY, share, "steadiness", STEADY, why),)
