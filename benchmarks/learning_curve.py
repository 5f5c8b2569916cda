"""How a generator gets better while it is trained: the judged share and FID after some of its epochs.

`train` trains as `foible train` does and keeps the model of every epoch in a folder; `measure` makes a curve of them by the
judge as it is now, on samples (reconstructions) of its own, and keeps it in results.json. What was kept can be measured again
when the judge gets better. Before the last epoch the learning rate is still high: a training that ended there would do a little
better than the curve shows.

    python benchmarks/learning_curve.py train gan --domain cifar10 --folder runs/curves/cifar10-gan
    python benchmarks/learning_curve.py measure cifar10-gan --folder runs/curves/cifar10-gan --at 2 5 10 20
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from foible.domains import Domain, load_domain, real_images
from foible.metrics import rate
from foible.protocols import Generator
from foible.registry import build
from foible.training.checkpoint import read_checkpoint
from foible.training.features import features_for
from foible.training.judged import judge_of, named, share_valid
from foible.training.realism import realism
from foible.training.samples import made_beside_real
from foible.training.train import TrainingRecipe, train, training_recipe
from foible.zoo.catalogue import Entry, entry
from foible.zoo.files import load_model, save_model
from measure import write

SEED = 1  # of the samples: those of a card have seed 0
SECONDS = "seconds.json"


def train_and_keep(recipe: TrainingRecipe, folder: Path) -> None:
    """Train to the end; every epoch's model stays in the folder, with the seconds of training up to it."""
    out = folder / f"{recipe.domain}-{recipe.family}.safetensors"

    def keep(figures: dict[str, float]) -> None:
        state = read_checkpoint(out.with_suffix(".checkpoint"), recipe.fit.model_dump())
        domain = load_domain(recipe.domain)
        learner = build("learners", recipe.family, {"domain": domain, **recipe.network})
        learner.network.load_state_dict(state["best"])
        learner.network.eval()
        epoch = int(figures["epoch"])
        save_model(
            folder / f"epoch-{epoch:02}.safetensors",
            learner.header(),
            learner.tensors(real_images(domain, None, "train")),
        )
        noted = folder / SECONDS
        seconds = json.loads(noted.read_text()) if noted.is_file() else {}
        noted.write_text(json.dumps(seconds | {str(epoch): round(state["history"]["seconds"], 1)}))
        print({name: round(value, 4) for name, value in figures.items()}, flush=True)

    print(train(recipe, out, report=keep).card["figures"])


@torch.inference_mode()
def point(generator: Generator, domain: Domain, images: int, teacher: str | None = None) -> dict[str, Any]:
    """What the judge keeps of a generator's images, with its interval, and how far they are from real ones."""
    judge = judge_of(domain)
    assert judge is not None, f"the judge of {domain.name} is not installed"
    pairs = list(made_beside_real(generator, real_images(domain, None, "test"), images, seed=SEED))
    kept = rate(round(share_valid(judge, pairs) * images), images)
    distance = realism((p.real for p in pairs), (p.made for p in pairs), features_for(domain, teacher))
    return {
        "judged_valid": [kept.share, kept.low, kept.high],
        "fid": round(distance.fid, 3),
        "features": distance.extractor,
        "judge": named(domain),
    }


def curve(card: Entry, folder: Path, epochs: list[int], images: int) -> dict[str, Any]:
    """Points after some epochs, and beside them the model as it is in the zoo."""
    domain, teacher = load_domain(card.domain), card.recipe["network"].get("teacher", {}).get("use")
    seconds = json.loads((folder / SECONDS).read_text())
    files = {str(epoch): folder / f"epoch-{epoch:02}.safetensors" for epoch in epochs}
    points = {
        epoch: {"minutes": round(seconds[epoch] / 60, 1)}
        | point(load_model(path, "generators"), domain, images, teacher)
        for epoch, path in files.items()
    }
    in_zoo = point(load_model(card.path(), "generators"), domain, images, teacher)
    return {"images": images, "epochs": points, "in the zoo": in_zoo}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    training = verbs.add_parser("train")
    training.add_argument("family")
    training.add_argument("--domain", required=True)
    training.add_argument("--recipe", help="a training recipe other than that of domain and family")
    training.add_argument("--epochs", type=int)
    training.add_argument("--folder", type=Path, required=True)
    measuring = verbs.add_parser("measure")
    measuring.add_argument("name", help="of the model in the zoo")
    measuring.add_argument("--folder", type=Path, required=True)
    measuring.add_argument("--at", type=int, nargs="+", required=True, help="epochs")
    measuring.add_argument("--images", type=int, default=500)
    given = parser.parse_args()
    if given.verb == "train":
        given.folder.mkdir(parents=True, exist_ok=True)
        changes = {"epochs": given.epochs} if given.epochs else {}
        train_and_keep(training_recipe(given.family, given.domain, given.recipe, changes), given.folder)
    else:
        write(f"learning_curve ({given.name})", curve(entry(given.name), given.folder, given.at, given.images))
