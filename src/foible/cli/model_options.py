"""Options that say what a classifier of the user's own is like."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from foible.classifiers.adapting.settings import SPOKEN, read_settings
from foible.errors import RecipeError


def _option(text: str, *names: str) -> Any:
    return typer.Option(*names, help=text, show_default=False)


Mean = Annotated[str | None, _option("Per channel, in the units of --range: 0.485,0.456,0.406.")]
Std = Annotated[str | None, _option("Per channel, in the units of --range.")]
Range = Annotated[str | None, _option("Black and white as the model knows them: 0,1 or 0,255 or -1,1.", "--range")]
Size = Annotated[str | None, _option("Height and width of its input: 224 or 224,320.")]
Channels = Annotated[int | None, _option("1 for grey, 3 for RGB.")]
Colours = Annotated[str | None, _option("Order of its three channels: rgb or bgr.")]
Layout = Annotated[str | None, _option("nchw or nhwc.")]
Output = Annotated[str | None, _option("Its scores: logits, probabilities or log-probabilities.")]
Classes = Annotated[
    str | None, _option("Its classes in the order of its scores: a,b,c, or a file with one on each line.")
]
Factory = Annotated[str | None, _option("file.py:make, which builds the network that the weights are for.")]
Weights = Annotated[Path | None, _option("A local weights file for timm:NAME or torchvision:NAME.")]
Download = Annotated[bool, typer.Option("--download", help="Fetch published weights that are not in the cache.")]
Send = Annotated[str | None, _option("What an endpoint gets: json or png.")]
Answer = Annotated[str | None, _option("Where the scores are in an endpoint's answer: predictions, or a.b for deeper.")]
Header = Annotated[
    list[str] | None, _option("Sent to an endpoint: 'Authorization: Bearer ${TOKEN}'. Repeatable.", "--header")
]
Private = Annotated[bool, typer.Option("--private", help="Allow an endpoint on this machine or a private network.")]
Untrusted = Annotated[
    bool | None,
    typer.Option(
        "--untrusted/--trusted",
        help="Run it in a sandbox (no network, no files, limits), or as a program of your own "
        "[default: in the sandbox where the file carries code].",
        show_default=False,
    ),
]
Insist = Annotated[bool, typer.Option("--insist", help="Go on where this machine cannot isolate an untrusted file.")]
Pickles = Annotated[bool, typer.Option("--pickles", help="Open files that can run any code when opened.")]
Limit = Annotated[list[str] | None, _option("Of the sandbox: --limit memory_gb=2 --limit call_seconds=10.", "--limit")]


OPTIONS: dict[str, Any] = {
    "mean": Mean,
    "std": Std,
    "range_": Range,
    "size": Size,
    "channels": Channels,
    "colours": Colours,
    "layout": Layout,
    "output": Output,
    "classes": Classes,
    "factory": Factory,
    "weights": Weights,
    "download": Download,
    "send": Send,
    "answer": Answer,
    "header": Header,
    "private": Private,
    "untrusted": Untrusted,
    "insist": Insist,
    "pickles": Pickles,
    "limit": Limit,
}  # by the name of the parameter
FLAGS = {"download", "private", "insist", "pickles"}


def about_models(verb: Callable[..., int]) -> Callable[..., int]:
    """A verb with all options about a model of the user's own; it gets them as `settings`.

    They stand where `settings` stands in its parameters. Typer reads a function's signature, so that is where they are put.
    """
    signature = inspect.signature(verb, eval_str=True)
    mine = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=False if name in FLAGS else None, annotation=kind
        )
        for name, kind in OPTIONS.items()
    ]
    parameters = [p for own in signature.parameters.values() for p in (mine if own.name == "settings" else [own])]

    @functools.wraps(verb)
    def with_settings(*arguments: Any, **options: Any) -> int:
        given = {name.rstrip("_"): options.pop(name, None) for name in OPTIONS}
        return verb(*arguments, settings=model_settings(**given), **options)

    with_settings.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_settings.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": int}
    return with_settings


def model_settings(**given: Any) -> dict[str, Any]:
    """Options as the settings of `load_classifier`; those not given are left out."""
    settings: dict[str, Any] = {k: v for k, v in given.items() if v not in (None, False, []) or k == "untrusted"}
    if settings.get("untrusted") is None:
        settings.pop("untrusted", None)  # left to the kind of file
    said = {name: str(settings.pop(name)) for name in SPOKEN if name in settings}
    if "classes" in said and (path := Path(said["classes"])).is_file():
        said["classes"] = path.read_text() + "\n"  # names in a file may hold commas
    settings |= read_settings(said)
    if "weights" in settings:
        settings["weights"] = str(settings["weights"])
    if "header" in settings:
        settings["headers"] = dict(_pair("--header", text, ":") for text in settings.pop("header"))
    if "limit" in settings:
        settings["limits"] = dict(_limit(text) for text in settings.pop("limit"))
    return settings


def _limit(text: str) -> tuple[str, float]:
    name, value = _pair("--limit", text, "=")
    try:
        return name, float(value)
    except ValueError:
        raise RecipeError(f"--limit '{text}' is not a number", "for example --limit memory_gb=2") from None


def _pair(option: str, text: str, sign: str) -> tuple[str, str]:
    key, found, value = text.partition(sign)
    if not found:
        raise RecipeError(f"{option} '{text}' has no '{sign}'", f"write NAME{sign}VALUE")
    return key.strip(), value.strip()
