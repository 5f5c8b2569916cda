"""Pictures of borders as parts of a page: whoever shows a run (report, workbench, a file of its own) puts them in.

What needs a model is made by a command (`foible strip`, `foible map`), kept in the run folder as numbers and small PNG files, and
drawn from those: a page is never given markup that lies in a run.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from foible.borders.activation_map import ActivationMap
from foible.borders.confusion import stored_confusion
from foible.borders.escapes import escapes, usual_distance
from foible.borders.pages import confusion_map, heat_map
from foible.borders.strip import Row, Strip
from foible.files import write_whole
from foible.images import png_bytes
from foible.store import Run

FOLDER = "borders"  # in the run folder
WIDTH, HEIGHT, EDGE = 560, 360, 20
COLOURS = ("#316ed6", "#2f9e5b", "#d65a31")  # the two clouds, and the border
STRIP_STYLE = (
    ".between p{margin:6px 0 2px}.between figure{display:inline-block;margin:2px;padding:0;background:none;border:0;"
    "text-align:center}.between img{width:64px;height:auto;image-rendering:pixelated}.between figcaption{font-size:12px}"
)


@dataclass(frozen=True)
class Part:
    """A section: its heading, and its inside as safe HTML."""

    title: str
    html: str


def parts(run: Run) -> list[Part]:
    """All that is known of the borders of a run; empty where it aims at no class and nothing was drawn for it."""
    found = []
    if any(outcome.target >= 0 for outcome in run.outcomes()):
        if (usual := usual_distance(run)) is not None:
            near = heat_map(escapes(run, within=usual), run)
            found.append(Part("Escapes from class to class, near ones", near))
        found.append(Part("Escapes from class to class", heat_map(escapes(run), run)))
        if (confused := stored_confusion(run)) is not None:
            found.append(Part("Confusions on real images", confusion_map(run.classes, confused)))
    kept = (_read(path, run.classes) for path in sorted((run.layout.folder / FOLDER).glob("*.json")))
    return found + [part for part in kept if part is not None]


def keep_strip(run: Run, found: Strip, name: str) -> Path:
    """Keep a strip with a run."""
    rows = {
        kind: [[_picture(image), *said] for image, said in zip(row.images, _said(row), strict=True)]
        for kind, row in (("latent", found.latent), ("pixels", found.pixels))
    }
    return _keep(run, f"strip-{name}", {"kind": "strip", **rows})


def keep_map(run: Run, found: ActivationMap) -> Path:
    """Keep a map with a run."""
    facts = {
        "kind": "map",
        "pair": found.pair,
        "layer": found.layer,
        "clouds": [cloud.tolist() for cloud in found.clouds],
        "border": found.border.tolist(),
        "explained": found.explained,
    }
    return _keep(run, f"map-{found.pair[0]}-{found.pair[1]}", facts)


def _keep(run: Run, name: str, facts: dict[str, Any]) -> Path:
    folder = run.layout.folder / FOLDER
    folder.mkdir(exist_ok=True)
    write_whole(folder / f"{name}.json", json.dumps(facts) + "\n")
    return folder / f"{name}.json"


def _read(path: Path, classes: tuple[str, ...]) -> Part | None:
    """A kept picture drawn again; None where the file is damaged."""
    try:
        facts = json.loads(path.read_text())
        if facts["kind"] == "strip":
            rows = [[(_checked(p), int(c), float(s)) for p, c, s in facts[kind]] for kind in ("latent", "pixels")]
            return Part("Between two images", _strip_html(rows, classes))
        clouds = tuple(torch.tensor(cloud, dtype=torch.float64).reshape(-1, 2) for cloud in facts["clouds"])
        border = torch.tensor(facts["border"], dtype=torch.float64).reshape(-1, 2)
        pair, explained = (int(facts["pair"][0]), int(facts["pair"][1])), tuple(map(float, facts["explained"]))
        found = ActivationMap(pair, str(facts["layer"]), clouds, border, explained)  # type: ignore[arg-type]
        return Part(f"Activations of {classes[pair[0]]} and {classes[pair[1]]}", map_svg(found, classes))
    except (OSError, ValueError, KeyError, TypeError, IndexError, RuntimeError):
        return None


def strip_html(found: Strip, classes: tuple[str, ...]) -> str:
    """The two rows of a strip, each frame with what it is taken for."""
    rows = [
        [(_picture(image), *said) for image, said in zip(row.images, _said(row), strict=True)]
        for row in (found.latent, found.pixels)
    ]
    return _strip_html(rows, classes)


def _strip_html(rows: list[list[tuple[str, int, float]]], classes: tuple[str, ...]) -> str:
    named = zip(("through the latent space", "through pixels"), rows, strict=True)
    body = "".join(f"<p>{name}</p><p>{''.join(_frame(*frame, classes) for frame in row)}</p>" for name, row in named)
    return f"<div class='between'><style>{STRIP_STYLE}</style>{body}</div>"


def _frame(picture: str, predicted: int, confidence: float, classes: tuple[str, ...]) -> str:
    words = html.escape(f"{classes[predicted]} {confidence:.0%}", quote=True)
    return (
        f"<figure><img alt='taken for {words}' src='data:image/png;base64,{picture}'>"
        f"<figcaption>{words}</figcaption></figure>"
    )


def _said(row: Row) -> list[tuple[int, float]]:
    return list(zip(row.predicted.tolist(), row.confidence.tolist(), strict=True))


def _picture(image: torch.Tensor) -> str:
    return base64.b64encode(png_bytes(image)).decode()


def _checked(picture: str) -> str:
    try:
        return base64.b64encode(base64.b64decode(picture, validate=True)).decode()
    except binascii.Error as error:
        raise ValueError("no picture") from error


def map_svg(found: ActivationMap, classes: tuple[str, ...]) -> str:
    """The map as SVG: two clouds of real images, and the border's images between them."""
    sets = [*found.clouds, found.border]
    every = torch.cat(sets)
    low, span = every.amin(0), (every.amax(0) - every.amin(0)).clamp_min(1e-9)
    size = torch.tensor([WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE], dtype=every.dtype)
    drawn = []
    for points, colour, radius in zip(sets, COLOURS, (2.5, 2.5, 4.0), strict=True):
        places = ((points - low) / span * size + EDGE).tolist()
        opacity = 0.9 if radius > 3 else 0.45
        drawn += [
            f"<circle cx='{x:.1f}' cy='{HEIGHT - y:.1f}' r='{radius}' fill='{colour}' fill-opacity='{opacity}'/>"
            for x, y in places
        ]
    names = [classes[found.pair[0]], classes[found.pair[1]], "on the border"]
    key = " ".join(
        f"<span style='color:{colour}'>● {html.escape(name)}</span>"
        for name, colour in zip(names, COLOURS, strict=True)
    )
    share = found.between
    about = (
        f"Two principal components of {html.escape(found.layer)}, fitted on real images of the two classes "
        f"({found.explained[0]:.0%} and {found.explained[1]:.0%} of their variance). {share.count} of {share.total} border "
        "images lie between the middles of the clouds."
    )
    return (
        f"<p>{about}</p><p>{key}</p><svg viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' role='img' "
        f"aria-label='map of activations'>{''.join(drawn)}</svg>"
    )
