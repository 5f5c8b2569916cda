"""Big models in folders of the user's: a card in the user's zoo gives them a name, without copying a byte.

A recipe then says `generator = "taef2"` instead of family, folder and settings, and a run's manifest holds the digest of
the folder.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w
import torch

from foible.digest import folder_digest
from foible.errors import ModelError, RecipeError
from foible.registry import build
from foible.zoo.catalogue import cards, own_zoo

FAMILIES = ("autoencoder", "biggan", "text_to_image")


def family_of(folder: Path) -> str:
    """Which of the families for local folders these files belong to."""
    config = folder / "config.json"
    if (folder / "model_index.json").is_file():
        return "text_to_image"
    if list(folder.glob("*encoder.pth")):
        return "autoencoder"
    if config.is_file():
        facts = json.loads(config.read_text())
        if str(facts.get("_class_name", "")).startswith("Autoencoder"):
            return "autoencoder"
        if "z_dim" in facts:
            return "biggan"
    raise ModelError(
        f"'{folder}' holds no model that is known: there is no model_index.json, no *encoder.pth, and no config.json of "
        "an autoencoder or a BigGAN",
        f"name the folder with the weights; families: {', '.join(FAMILIES)}",
    )


def add(folder: Path, name: str | None, domain: str, settings: Mapping[str, Any], licence: str = "") -> Path:
    """Load the model in a folder once, measure it, and write its card into the user's zoo; the card is returned.

    Args:
        folder: the model's files; they stay where they are.
        name: what recipes call it; the folder's name by default.
        domain: what its images are of.
        settings: parameters of the family, such as `images`, `prompts` or `shape`; paths are made absolute.
        licence: under which its makers gave it away.
    """
    if not folder.is_dir():
        raise ModelError(f"no folder '{folder}'", "name the folder that holds the model's files")
    folder = folder.resolve()
    name = name or re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")
    if name in cards() and cards()[name].settings is None:
        raise RecipeError(f"the zoo has a model '{name}' already", "give another name with --name")
    family = family_of(folder)
    given = {k: _absolute(k, v) for k, v in settings.items()}
    generator = build("generators", family, {"folder": str(folder), **given})
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    card = {
        "file": str(folder),
        "sha256": folder_digest(folder),
        "bytes": sum(p.stat().st_size for p in files),
        "parameters": sum(p.numel() for p in generator.network.parameters()),
        "data": "not stated",
        "licence": licence or "not stated",
        "training_seconds": 0.0,
        "figures": {k: round(v, 5) for k, v in _figures(generator, settings).items()},
        "settings": given,
        "measured": {"decode_batch": 1, "threads": torch.get_num_threads()},
        "recipe": {"family": family, "domain": domain},
    }
    path = own_zoo() / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tomli_w.dumps(card))
    return path


@torch.inference_mode()
def _figures(generator: Any, settings: Mapping[str, Any]) -> dict[str, float]:
    """The latent space, and the time of one image: the first one is not counted."""
    labels = torch.tensor([int(next(iter(settings.get("prompts", {"0": ""}))))])
    latents = generator.sample(labels, torch.Generator().manual_seed(0))
    generator.decode(latents, labels)
    begin = time.perf_counter()
    generator.decode(latents, labels)
    return {
        "decode_ms": 1000 * (time.perf_counter() - begin),
        "latent_size": float(latents[0].numel()),
        "latent_range": generator.space.range,
        "latent_step": float(generator.space.step.mean()),
    }


def _absolute(key: str, value: Any) -> Any:
    return str(Path(value).resolve()) if key in {"images", "lora"} else value
