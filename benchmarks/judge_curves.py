"""What every validator catches and misses, on data where the truth is known: figures, and curves for docs/judge.md.

Real images are the third part of the held-out ones, which no part of the judge has seen. Invalid are: made-up kinds that
nothing was fitted on, and images of other domains that were not shown in fitting. Labels are not kept by relabelled real
images: any other class, or the one that the panel thinks likeliest after the right one.

    python benchmarks/judge_curves.py mnist --save
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import torch
from torch import Tensor

from foible.campaign.assemble import make_validator
from foible.campaign.spec import Part
from foible.domains import Domain, load_domain, real_images
from foible.domains.sources import data_folders
from foible.errors import FoibleError
from foible.metrics import auc, rate
from foible.training.foreign import fitted_to
from foible.training.invalid import MEASURED
from foible.training.judge import JudgeSettings, dealt
from foible.training.judge_figures import second_thought, wrong_at_random
from foible.training.train import training_recipe
from foible.types import Images
from foible.validators.fitted import fitted
from foible.validators.usual import some

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COUNT = 500  # images of every kind
LIKE_DIGITS = "BGILOQSZ"  # letters that a person may well take for a digit
RESULTS, PICTURES = Path(__file__).parent / "judge.json", Path(__file__).parents[1] / "docs" / "judge"
VALIDATORS = ("judge", "learned", "features", "reconstruction", "discriminator", "ssim", "reference")


def letters(shape: tuple[int, int, int]) -> Images | None:
    """Handwritten letters that look like no digit, where the dataset is there."""
    path = next((p for f in data_folders() if (p := f / "emnist_letters.npz").is_file()), None)
    if path is None:
        return None
    with np.load(path) as members:
        pixels, labels = members["x_test"], members["y_test"]
    plain = np.flatnonzero(~np.isin(labels, [ord(c) - ord("A") for c in LIKE_DIGITS]))
    index = np.random.default_rng(0).choice(plain, COUNT, replace=False)
    return fitted_to(torch.from_numpy(pixels[index]).float().div(255)[:, None], shape)


def strangers(domain: Domain, shown: tuple[str, ...]) -> dict[str, Images]:
    """Images of other domains that were not shown in fitting."""
    found = {}
    for name in ("mnist", "fashion", "svhn", "cifar10"):
        related = {name, domain.name} == {"mnist", "svhn"}  # digits in other clothes: no truth to be had
        if name == domain.name or name in shown or related:
            continue
        try:
            data = real_images(load_domain(name))
        except FoibleError:
            continue
        found[name] = fitted_to(data.images(some(data, COUNT)), domain.shape)
    if (read := letters(domain.shape)) is not None and domain.name != "svhn":
        found["letters"] = read
    return found


def sets(domain: Domain, settings: JudgeSettings) -> tuple[Images, Tensor, dict[str, Images]]:
    """Real images, their labels, and invalid images by kind."""
    data = real_images(domain)
    index = dealt(data, settings.held_out, 0)[2]
    images, labels = data.images(index), data.labels[index]
    with torch.random.fork_rng():
        torch.manual_seed(1)
        made = {name: kind(images[:COUNT], labels[:COUNT]) for name, kind in MEASURED.items()}
    return images, labels, made | strangers(domain, settings.foreign)


def scores(call: Callable[..., list[tuple]], images: Images, labels: Tensor, about: str) -> tuple[Tensor, float] | None:
    said = [[v for v in mine if v.about == about] for mine in call(images, labels)]
    if not said[0]:
        return None
    return torch.tensor([v[0].score for v in said]), said[0][0].threshold


def curve(good: Tensor, bad: Tensor) -> tuple[Tensor, Tensor]:
    """Shares accepted of the bad and of the good, from the strictest threshold to the mildest."""
    levels = torch.cat([good, bad]).unique().flip(0)
    accepted = [torch.searchsorted(part.sort().values, levels) for part in (bad, good)]
    bad_share, good_share = (1 - a / len(p) for a, p in zip(accepted, (bad, good), strict=True))
    return torch.cat([torch.zeros(1), bad_share, torch.ones(1)]), torch.cat([torch.zeros(1), good_share, torch.ones(1)])


def compared(name: str, good: Tensor, bad: Tensor, threshold: float) -> dict[str, float | int | None]:
    kept, let_in = rate(int((good >= threshold).sum()), len(good)), rate(int((bad >= threshold).sum()), len(bad))
    area = auc(torch.cat([good, bad]).tolist(), [True] * len(good) + [False] * len(bad))
    print(
        f"  {name:<16} AUC {area:.4f}   accepts {kept.share:6.1%} of the good, {let_in.share:6.1%} of the bad",
        flush=True,
    )
    return {"auc": area, "good": len(good), "good_accepted": kept.share, "bad": len(bad), "bad_accepted": let_in.share}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("domain")
    options.add_argument("--save", action="store_true")
    chosen = options.parse_args()
    domain = load_domain(chosen.domain)
    settings = JudgeSettings(**training_recipe("judge", domain.name).network)
    images, labels, invalid = sets(domain, settings)
    classes = len(domain.classes)
    sight = fitted(domain).panel(images)
    with torch.random.fork_rng():
        torch.manual_seed(2)
        wrong = {"relabelled": wrong_at_random(labels, classes), "second thought": second_thought(sight, labels)}
    results: dict[str, dict] = {}
    _, axes = plt.subplots(1, 2, figsize=(9, 4.2))
    for name in VALIDATORS:
        try:
            validator = make_validator(Part(use=name), domain, real_images(domain))
        except FoibleError as error:
            print(f"{name}: left out, {error.message}")
            continue
        print(name)
        few = COUNT if name == "ssim" else len(images)
        results[name] = {}
        if real := scores(validator, images[:few], labels[:few], "image"):
            nonsense = {}
            for kind, made in invalid.items():
                shown = scores(
                    validator,
                    made[: 100 if name == "ssim" else COUNT],
                    torch.arange(len(made[:COUNT])) % classes,
                    "image",
                )
                nonsense[kind] = shown[0]
                results[name][kind] = compared(kind, real[0], nonsense[kind], real[1])
            everything = torch.cat(list(nonsense.values()))
            results[name]["all invalid"] = compared("all invalid", real[0], everything, real[1])
            axes[0].plot(*curve(real[0], everything), label=f"{name}, {results[name]['all invalid']['auc']:.3f}")
        if real := scores(validator, images, labels, "label"):
            for kind, other in wrong.items():
                not_kept = scores(validator, images, other, "label")[0]
                results[name][kind] = compared(kind, real[0], not_kept, real[1])
                style = "-" if kind == "relabelled" else "--"
                axes[1].plot(
                    *curve(real[0], not_kept), style, label=f"{name}, {kind}, {results[name][kind]['auc']:.4f}"
                )
    if chosen.save:
        for axis, title in zip(axes, ("real against invalid images", "real against relabelled images"), strict=True):
            axis.set(title=f"{domain.name}: {title}", xlabel="bad ones accepted", ylabel="good ones accepted")
            axis.set(xscale="log", xlim=(1e-3, 1), ylim=(0.5, 1.005))  # what matters is at the left
            axis.legend(fontsize=8, loc="lower right")
            axis.grid(alpha=0.3)
        PICTURES.mkdir(parents=True, exist_ok=True)
        plt.tight_layout()
        plt.savefig(PICTURES / f"{domain.name}.png", dpi=80)
        whole = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
        RESULTS.write_text(json.dumps(whole | {domain.name: results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
