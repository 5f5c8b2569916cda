"""A small run with verdicts, written by hand, for tests of surveys."""

import torch

from foible.records import Finding, Outcome, Verdict
from foible.store import RunWriter, open_run
from foible.store.manifest import Manifest, versions
from foible.types import Arm, Status
from tests.by_hand import by_tested, record, save_image

CLASSES = ("left", "middle", "right")


def write_run(folder, scores, images=None, classes=CLASSES):
    """Finding k expects class 0, is taken for class 1, and has the k-th scores (image, label) of the judge."""
    recipe = {
        "name": "by-hand",
        "title": "By hand",
        "domain": str(images),
        "data": None,
        "seed": 0,
        "attempts": len(scores),
    }
    part = {name: {"use": name} for name in ("generator", "objective", "oracle", "search", "classifier")}
    recipe |= {"budget": {"evaluations": 9, "seconds": None}, "baseline": {"use": "random", "attempts": 0}, **part}
    manifest = Manifest(
        recipe=recipe | {"validators": []}, digests={}, data="none", classes=classes, shape=(1, 6, 6), chunk=8, packing="full",
        device="cpu", threads=1, versions=versions(), created="2026-01-01T00:00:00+00:00",
    )  # fmt: skip
    with RunWriter(folder, manifest) as writer:
        for attempt, pair in enumerate(scores):
            image = torch.full((1, 6, 6), attempt / 255)
            path, digest = save_image(writer, f"{attempt}.png", image)
            verdicts = () if pair is None else (
                Verdict("judge", pair[0] >= 0.5, pair[0], "image"), Verdict("judge", pair[1] >= 0.5, pair[1], "label"),
            )  # fmt: skip
            finding = Finding(
                Arm.SEARCH, attempt, 0, 1, 40, 3, by_tested(0.9, 0.1, 0.0), by_tested(0.2, 0.8, 0.0), 1.5, 0.5, torch.zeros(2),
                torch.zeros(2), f"images/{path.name}", f"images/{path.name}", digest, digest, verdicts,
            )  # fmt: skip
            outcome = Outcome(Arm.SEARCH, attempt, 0, f"#{attempt}", Status.FOUND, 0, 40, 3, -0.5, findings=1)
            record(writer, [outcome], [finding])
        writer.close_with("complete")
    return open_run(folder)
