"""A profile on disk: one safetensors file whose header says of which model and of which layers it is."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from foible.coverage.moments import Moments
from foible.coverage.profile import Profile
from foible.coverage.scope import Scope
from foible.errors import DataError, ModelError
from foible.files import replacing

FORMAT = 1
KEY = "foible-profile"


def save_profile(profile: Profile, path: Path) -> Path:
    """Write a profile, whole or not at all."""
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
    header = {
        "format": FORMAT,
        "model": profile.model,
        "source": profile.source,
        "count": profile.count,
        "keep": profile.keep,
        "scope": asdict(profile.scope),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial:
        save_file({k: v.contiguous() for k, v in tensors.items()}, partial, metadata={KEY: json.dumps(header)})
        partial.chmod(0o644)  # safetensors keeps its files from others
    return path


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
    parts = {
        kind: Moments(**{name: tensors[f"{kind}.{name}"] for name in Moments._fields})
        for kind in ("moments", "classes")
        if f"{kind}.total" in tensors
    }
    plain = {name: tensor for name, tensor in tensors.items() if "." not in name}
    scope = header["scope"]
    scope |= {name: tuple(scope[name]) for name in ("layers", "widths", "trace")}
    scope["bounds"] = tuple(tuple(pair) for pair in scope["bounds"])
    facts = {name: header[name] for name in ("keep", "model", "source")}
    return Profile(Scope(**scope), moments=parts["moments"], classes=parts.get("classes"), **plain, **facts)
