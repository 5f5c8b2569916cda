"""A profile as tensors, and on disk: a safetensors file whose header says of which model and of which layers it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from foible.coverage.moments import Moments
from foible.coverage.profile import Profile
from foible.coverage.scope import Scope
from foible.errors import DataError, ModelError
from foible.files import replacing
from foible.types import State

FORMAT = 1
KEY = "foible-profile"
FACTS = "facts"


def as_tensors(profile: Profile) -> State:
    """A profile as named tensors, its facts among them as bytes of JSON."""
    tensors = {
        "low": profile.low,
        "high": profile.high,
        "traces": profile.traces,
        "traced_class": profile.traced_class,
        "traced_hash": profile.traced_hash,
    }
    tensors |= {f"moments.{name}": tensor for name, tensor in profile.moments._asdict().items()}
    if profile.classes is not None:
        tensors |= {f"classes.{name}": tensor for name, tensor in profile.classes._asdict().items()}
    facts = torch.frombuffer(bytearray(json.dumps(_facts(profile)).encode()), dtype=torch.uint8)
    return {**tensors, FACTS: facts}


def from_tensors(tensors: Mapping[str, Tensor]) -> Profile:
    """The profile that `as_tensors` wrote."""
    facts = json.loads(bytes(tensors[FACTS].tolist()))
    parts = {
        kind: Moments(**{name: tensors[f"{kind}.{name}"] for name in Moments._fields})
        for kind in ("moments", "classes")
        if f"{kind}.total" in tensors
    }
    plain = {name: tensors[name] for name in ("low", "high", "traces", "traced_class", "traced_hash")}
    scope = facts["scope"]
    scope |= {name: tuple(scope[name]) for name in ("layers", "widths", "trace")}
    scope["bounds"] = tuple(tuple(pair) for pair in scope["bounds"])
    said: dict[str, Any] = {**plain, **{name: facts[name] for name in ("keep", "model", "source")}}
    return Profile(Scope(**scope), moments=parts["moments"], classes=parts.get("classes"), **said)


def save_profile(profile: Profile, path: Path) -> Path:
    """Write a profile, whole or not at all."""
    tensors = {k: v.contiguous() for k, v in as_tensors(profile).items() if k != FACTS}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial:
        save_file(tensors, partial, metadata={KEY: json.dumps(_facts(profile))})
        partial.chmod(0o644)  # safetensors keeps its files from others
    return path


def _facts(profile: Profile) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "model": profile.model,
        "source": profile.source,
        "count": profile.count,
        "keep": profile.keep,
        "scope": asdict(profile.scope),
    }


def load_profile(path: Path, model: str | None = None) -> Profile:
    """Read a profile.

    Args:
        path: a file written by `save_profile`.
        model: digest of the model it must be of; None takes any.
    """
    if not path.is_file():
        raise DataError(f"no profile '{path}'", "foible coverage MODEL --domain D --out FOLDER writes one")
    try:
        with safe_open(path, framework="pt") as opened:
            header = json.loads((opened.metadata() or {}).get(KEY, "{}"))
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise DataError(f"profile '{path}' cannot be read: {error}", "fit it again") from error
    if header.get("format") != FORMAT:
        raise DataError(f"'{path}' is not a profile that this version reads", "fit it again")
    if model is not None and header["model"] != model:
        raise ModelError(
            f"profile '{path}' is of another model (digest {header['model'][:12]}, this one has {model[:12]})",
            "fit a profile of this model: leave --profile out",
        )
    said = torch.frombuffer(bytearray(json.dumps(header).encode()), dtype=torch.uint8)
    return from_tensors({**tensors, FACTS: said})
