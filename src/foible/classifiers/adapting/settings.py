"""What people say of a model in words, on the command line or in a form, as the settings of `load_classifier`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from foible.errors import RecipeError

NUMBERS: Final[Mapping[str, type]] = {"size": int, "range": float, "mean": float, "std": float}
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "channels": ("1", "3"),
    "colours": ("rgb", "bgr"),
    "layout": ("nchw", "nhwc"),
    "output": ("logits", "probabilities", "log-probabilities"),
    "send": ("json", "png"),
}
SPOKEN = (*NUMBERS, *CHOICES, "classes")
EXAMPLES = {"size": "224 or 224,320", "range": "0,1 or 0,255 or -1,1"}


def read_settings(said: Mapping[str, str]) -> dict[str, Any]:
    """Settings from text; what is empty is left out."""
    settings = {name: read_setting(name, text) for name, text in said.items() if text.strip()}
    must_make_sense(settings)
    return settings


def read_setting(name: str, text: str) -> Any:
    """One setting from text: numbers apart by commas, one of the choices, or class names."""
    if name == "classes":
        lines = text if "\n" in text else text.replace(",", "\n")
        return [line.strip() for line in lines.splitlines() if line.strip()]
    text = text.strip()
    if name in NUMBERS:
        numbers = _numbers(name, text)
        return numbers * 2 if name == "size" and len(numbers) == 1 else numbers
    if text not in CHOICES[name]:
        raise RecipeError(f"{name} '{text[:40]}' is not known", f"one of: {', '.join(CHOICES[name])}")
    return int(text) if name == "channels" else text


def spoken(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings as the text that `read_setting` makes them from; settings that have no such text are left out."""
    said = {k: settings[k] for k in SPOKEN if k in settings}
    lines = said.pop("classes", None)
    texts = {k: ",".join(map(_short, v)) if isinstance(v, list | tuple) else str(v) for k, v in said.items()}
    if lines is None:
        return texts
    return texts | {"classes": "".join(f"{c}\n" for c in lines) if any("," in c for c in lines) else ",".join(lines)}


def must_make_sense(settings: Mapping[str, Any]) -> None:
    """Refuse numbers that no model can mean, before one is opened."""
    from foible.classifiers.adapting.preprocessing import Preprocessing

    for name in ("range", "size"):
        if len(settings.get(name, (0, 0))) != 2:
            raise RecipeError(f"{name} has {len(settings[name])} numbers, expected 2", f"for example {EXAMPLES[name]}")
    numbers: dict[str, Any] = {k: tuple(settings[k]) for k in NUMBERS if k in settings}
    Preprocessing(**numbers)


def _numbers(name: str, text: str) -> list[Any]:
    try:
        numbers = [NUMBERS[name](part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(math.isfinite(n) for n in numbers):
        raise RecipeError(
            f"{name} '{text[:60]}' is not a list of numbers", f"for example {EXAMPLES.get(name, '0.485,0.456,0.406')}"
        )
    return numbers


def _short(number: float) -> str:
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)
