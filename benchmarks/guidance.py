"""What guidance does to a diffusion model, and truncation to a GAN: the judged share and FID at several strengths.

The one chosen goes into its file. The samples are others than those of the card, which is measured anew after the choice.
Training knows neither: the weights stay as they are.

    python benchmarks/guidance.py mnist-diffusion --try 1 1.25 1.5 2 3
    python benchmarks/guidance.py mnist-diffusion --keep 1.5 && foible zoo appraise mnist-diffusion
    python benchmarks/guidance.py svhn-gan --try 1 1.5 2
"""

from __future__ import annotations

import argparse
import tomllib

import tomli_w

from foible.digest import sha256
from foible.domains import load_domain
from foible.zoo.catalogue import Entry, entry
from foible.zoo.files import load_model, read_model_file, save_model
from learning_curve import point
from measure import write

SETTINGS = {"diffusion": "guidance", "gan": "truncation"}  # by family


def tried(card: Entry, strengths: list[float], images: int) -> dict[str, object]:
    """A point for each strength."""
    domain, setting = load_domain(card.domain), SETTINGS[card.family]
    teacher = card.recipe["network"].get("teacher", {}).get("use")
    models = {g: load_model(card.path(), "generators", settings={setting: g}) for g in strengths}
    points = {str(g): point(model, domain, images, teacher) for g, model in models.items()}
    return {"setting": setting, "images": images, "strengths": points}


def keep(card: Entry, strength: float) -> None:
    """Write a strength into the header of a model file and into its card."""
    path, chosen = card.path(), {SETTINGS[card.family]: strength}
    header, tensors = read_model_file(path)
    save_model(path, header.model_copy(update={"config": header.config | chosen}), tensors)
    facts = tomllib.loads(card.card.read_text())
    facts["recipe"]["network"] |= chosen
    facts |= {"sha256": sha256(path), "bytes": path.stat().st_size}
    card.card.write_text(tomli_w.dumps(facts))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of a diffusion model or GAN in the zoo")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--try", dest="strengths", type=float, nargs="+")
    what.add_argument("--keep", type=float)
    parser.add_argument("--images", type=int, default=500)
    given = parser.parse_args()
    if given.strengths:
        write(f"guidance ({given.name})", tried(entry(given.name), given.strengths, given.images))
    else:
        keep(entry(given.name), given.keep)
