"""Options that several verbs share."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from foible.errors import RecipeError

Result = TypeVar("Result")
RecipeArgument = Annotated[
    str, typer.Argument(help="A recipe: a built-in name (see `foible ls recipes`) or a .toml file.", show_default=False)
]
RunArgument = Annotated[Path, typer.Argument(help="A run folder.", show_default=False)]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="The run folder [default: runs/<recipe name>].", show_default=False)
]
Attempts = Annotated[int | None, typer.Option(help="How many starting images to try.", show_default=False)]
Seed = Annotated[int | None, typer.Option(help="Seed of all randomness.", show_default=False)]
Generator = Annotated[
    str | None, typer.Option(help="Another generator: zoo name, .safetensors file or file.py:Name.", show_default=False)
]
ClassifierOption = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        help="Another classifier: zoo name, model file (.safetensors, .pt, .pt2, .onnx), hub name or file.py:Name.",
        show_default=False,
    ),
]
DomainOption = Annotated[
    str, typer.Option("--domain", help="What models are for: a domain's name, TOML file or folder of images.")
]
ZooGenerator = Annotated[
    str | None,
    typer.Option("--generator", help="Where images come from [default: the zoo's for the domain].", show_default=False),
]
Data = Annotated[
    str | None, typer.Option(help="Real images: class-per-folder tree, npz file, or 'sample'.", show_default=False)
]
Origins = Annotated[
    str | None,
    typer.Option(
        help="Which starting images to search: 'judged' (valid with their label, where there is a judge) or 'any'.",
        show_default=False,
    ),
]
Lanes = Annotated[
    int | None, typer.Option(help="Starting images searched side by side; no effect on results.", show_default=False)
]
Chunk = Annotated[int | None, typer.Option(help="Images per forward pass; measured when left out.", show_default=False)]
Device = Annotated[str | None, typer.Option(help="Where the networks run: cpu, cuda, cuda:1, mps.", show_default=False)]
WorkersOption = Annotated[
    str | None,
    typer.Option(
        "--workers", help="Processes that compute, through Ray; 'ray': one per core; 0: none.", show_default=False
    ),
]
Address = Annotated[
    str | None, typer.Option(help="Of a Ray cluster for --workers [default: this machine].", show_default=False)
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Any recipe value: --set search.population=50. Repeatable.", show_default=False),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if", help='Exit with 1 when true: --fail-if "failure_rate > 0.05". Repeatable.', show_default=False
    ),
]
Trust = Annotated[bool, typer.Option("--trust", help="Run the code that the recipe of a run from elsewhere names.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]


def recipe_changes(pairs: list[str] | None = None, **named: Any) -> dict[str, Any]:
    """Recipe values from `--set key=value` (TOML values; bare words are text) and from options that were given."""
    engine = {"lanes", "chunk", "device", "workers", "address"}
    changes = {f"engine.{k}" if k in engine else k: v for k, v in named.items() if v is not None}
    if str(changes.get("engine.workers", "")).isdecimal():
        changes["engine.workers"] = int(changes["engine.workers"])
    elif changes.get("engine.address") and "engine.workers" not in changes:
        changes["engine.workers"] = "ray"
    for pair in pairs or []:
        key, sign, text = pair.partition("=")
        if not sign or not key.strip():
            raise RecipeError(f"--set {pair!r} is not key=value", "for example --set search.population=50")
        changes[key.strip()] = _value(text.strip())
    return changes


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def with_trust(act: Callable[[bool], Result], trust: bool) -> Result:
    """Do something with a run; where that needs trust and nobody has said so, ask on the terminal."""
    from foible.campaign.trust import NotTrusted

    try:
        return act(trust)
    except NotTrusted as doubt:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        print(doubt.message, file=sys.stderr)
        if not typer.confirm("Go on?", default=False, err=True):
            raise
        return act(True)
