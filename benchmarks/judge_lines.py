"""The judge's lines drawn on failures of searches instead of real images: where would they be, and what would change?

For each domain the failures of the genetic search (published steps) from VAE and GAN, as `foible benchmark gift` leaves them; the lines at
which the judge accepts the shares of them that one person accepted in the published study; then what these lines make of
failures of `descent`, of real images, and of images that people were asked about.

    python -m foible benchmark gift -o runs/gift --only high --only descent --only mnist-vae --only mnist-gan --attempts 100
    python benchmarks/judge_lines.py mnist --folder runs/gift
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from foible.domains import load_domain, real_images
from foible.domains.sources import data_folders
from foible.judging.shares import lines_at
from foible.metrics import rate
from foible.store import open_run
from foible.validators.calibration import Calibration
from foible.validators.judge import Judge, Judgement
from foible.validators.usual import some
from judge_on_failures import PEOPLE
from judge_people import Study, mean_kappa
from measure import write

REAL = 1000
USUAL = Calibration()


def failures(judge: Judge, folders: Iterable[Path]) -> Judgement:
    """What the judge says of all findings of some runs."""
    found = [(run.image(f.image), f.label) for run in map(open_run, folders) for f in run.findings()]
    return judge.judgement(torch.stack([image for image, _ in found]), torch.tensor([label for _, label in found]))


def accepted(said: Judgement, lines: Calibration) -> dict[str, torch.Tensor]:
    """Which are valid, and which also keep their label (N,)."""
    valid = said.validity >= lines.threshold("image")
    return {"valid": valid, "valid, label kept": valid & (said.kept_score >= lines.threshold("label"))}


def shares(said: Judgement, lines: Calibration) -> dict[str, list[float | None]]:
    """The same as shares with their 95 % intervals."""
    found = {name: rate(int(hits.sum()), len(hits)) for name, hits in accepted(said, lines).items()}
    return {name: [share.share, share.low, share.high] for name, share in found.items()}


def beside_people(study: Study, judge: Judge, lines: tuple[Calibration, ...]) -> list[dict[str, float | None]]:
    """Kappa of the judge with a person about validity and kept labels, for each pair of lines."""
    said, answers = study.judgement(judge), study.asked.said.numpy()
    truth = {"valid": answers >= 0, "valid, label kept": answers == study.asked.labels.numpy()[:, None]}
    everything = np.arange(len(answers))
    return [
        {name: mean_kappa(truth[name], hits.numpy(), everything) for name, hits in accepted(said, one).items()}
        for one in lines
    ]


def moved(name: str, folder: Path) -> dict[str, Any]:
    """The figures of one domain."""
    domain = load_domain(name)
    judge, data, people = Judge(domain), real_images(domain), PEOPLE[name]
    genetic, descent = (
        failures(judge, [folder / f"gift-{name}-{kind}-{search}" for kind in ("vae", "gan")])
        for search in ("high", "descent")
    )
    index = some(data, REAL)
    real = judge.judgement(data.images(index), data.labels[index])
    drawn = lines_at(genetic.validity, genetic.kept_score, *people)
    figures: dict[str, Any] = {
        "company": judge.company(),
        "failures of the genetic search": len(genetic.validity),
        "failures of descent": len(descent.validity),
        "accepted by one person, published": list(people),
        "lines": [drawn.threshold("image"), drawn.threshold("label")],
    }
    for what, said in (("genetic", genetic), ("descent", descent), ("real images", real)):
        figures[what] = {"line of real images": shares(said, USUAL), "line of failures": shares(said, drawn)}
    answers = next((p for f in data_folders() if (p := f / f"people/icse23_validity/{name}.npz").is_file()), None)
    if answers:
        study = Study.of(answers, judge, domain, data.images(index))
        before, after = beside_people(study, judge, (USUAL, drawn))
        figures["kappa judge-person"] = {"line of real images": before, "line of failures": after}
    return figures


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("domains", nargs="+", choices=PEOPLE)
    options.add_argument("--folder", type=Path, required=True)
    chosen = options.parse_args()
    for name in chosen.domains:
        write(f"judge_lines_{name}", moved(name, chosen.folder))


if __name__ == "__main__":
    main()
