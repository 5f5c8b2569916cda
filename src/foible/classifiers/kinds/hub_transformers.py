"""A Hugging Face image classifier saved in a folder, with its own preprocessing and class names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch import nn

from foible.classifiers.network import Facts
from foible.domains.library import import_torchvision
from foible.errors import MissingExtra, ModelError


def load_folder(folder: Path) -> tuple[nn.Module, Facts]:
    """The model in a folder and what the folder says about its images and classes."""
    import_torchvision()  # transformers looks for it, and must find it whole
    try:
        from transformers import AutoModelForImageClassification
    except ImportError:
        raise MissingExtra("transformers", "hub", f"the model in '{folder}'") from None
    try:
        module = AutoModelForImageClassification.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, use_safetensors=True
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"the model in '{folder}' cannot be loaded: {str(error).strip().splitlines()[0]}",
            "expected an image classifier saved with save_pretrained",
        ) from error
    config = module.config
    return module, Facts(
        source=f"the configuration in {folder.name}",
        channels=getattr(config, "num_channels", None),
        classes=_classes(config),
        **_preprocessing(folder / "preprocessor_config.json", getattr(config, "image_size", None)),
    )


def _classes(config: Any) -> tuple[str, ...] | None:
    names = tuple(str(config.id2label[i]) for i in range(len(config.id2label)))
    return None if names == tuple(f"LABEL_{i}" for i in range(len(names))) else names


def _preprocessing(path: Path, image_size: Any) -> dict[str, Any]:
    """Size, range, mean and std from a preprocessor's settings; only the size where there are none."""
    size = (image_size, image_size) if isinstance(image_size, int) else tuple(image_size) if image_size else None
    if not path.is_file():
        return {"size": size}
    settings = json.loads(path.read_text())
    named = settings.get("crop_size" if settings.get("do_center_crop") else "size", {})
    if isinstance(named, int):
        size = (named, named)
    elif "height" in named and "width" in named:
        size = (int(named["height"]), int(named["width"]))
    elif "shortest_edge" in named:
        size = (int(named["shortest_edge"]),) * 2
    scale = float(settings.get("rescale_factor", 1 / 255)) if settings.get("do_rescale", True) else 1.0
    facts: dict[str, Any] = {"size": size, "range": (0.0, round(255 * scale, 6))}
    if settings.get("do_normalize", True) and "image_mean" in settings:
        facts |= {"mean": tuple(settings["image_mean"]), "std": tuple(settings["image_std"])}
    return facts
