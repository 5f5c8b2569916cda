"""Write the tables of README.md, docs/zoo.md, docs/judge.md, docs/searches.md and docs/reference.md anew.

They are made from the cards, the contact sheets, benchmarks/judge_people.json, benchmarks/results.json, the recipe's model and
the registered components.

python docs/tables.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from search_tables import SEARCH_TABLES, results

from foible.campaign import Recipe
from foible.domains import load_domain
from foible.parameters import components, model_parameters
from foible.registry import BUILT_IN
from foible.zoo import Entry, cards
from foible.zoo.catalogue import WEIGHTS
from foible.zoo.table import duration, generator_rows, generator_table, interval, markdown, zoo_rows

ROOT = Path(__file__).parents[1]
SHEETS = ROOT / "docs" / "zoo"
PAGES = (
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("zoo", "judge", "searches", "photographs", "reference")),
)
REFERENCE = ("searches", "objectives", "oracles", "validators", "coverage")
DOMAINS = {"mnist": "MNIST", "fashion": "Fashion-MNIST", "svhn": "SVHN", "cifar10": "CIFAR-10"}
JUDGED = DOMAINS | {"emnist": "EMNIST letters"}
FAMILIES = {"vae": "VAE", "gan": "GAN", "diffusion": "diffusion"}
PUBLISHED_ORIGINS = {"mnist": (99, 99, 87), "svhn": (66, 84, 95), "cifar10": (39, 69, 87)}  # of 100 attempts, Table III


def filled(page: str) -> str:
    """The page with every part between `<!-- name -->` and `<!-- end -->` made from what is there now."""
    own = {name: card for name, card in cards().items() if card.folder == WEIGHTS}
    parts: dict[str, Callable[[], str]] = {
        "zoo": lambda: markdown(_summary_of_zoo(own)),
        "generators": lambda: markdown(generator_table([r for r in generator_rows() if r.name in own])),
        "realism": lambda: markdown(_realism([e for e in own.values() if e.role == "generators"])),
        "classifiers": lambda: markdown(_classifiers(own)),
        "learning curves": lambda: markdown(_by_judge("learning_curve", "epochs")),
        "guidance": lambda: markdown(_by_judge("guidance", "strengths")),
        "sheets": lambda: "\n\n".join(f"**{p.stem}**\n\n![Images made by {p.stem}](zoo/{p.name})" for p in _sheets()),
        "judge": lambda: markdown(_summary_of_judge(own)),
        "people": _people,
        **{name: lambda rows=rows: markdown(rows()) for name, rows in SEARCH_TABLES.items()},
        "reference recipe": lambda: markdown(_recipe_keys()),
        **{f"reference {heading}": partial(_components, heading) for heading in REFERENCE},
    }
    for name, make in parts.items():
        if f"<!-- {name} -->" in page:
            begin, end = rf"(<!-- {name} -->\n)", "(<!-- end -->)"
            text = make()
            page = re.sub(f"{begin}.*?{end}", lambda m, t=text: f"{m[1]}\n{t}\n\n{m[2]}", page, flags=re.DOTALL)
    return page


def _recipe_keys() -> list[tuple[str, ...]]:
    """Every key of a recipe, with those of its tables."""
    rows = [("key", "value", "default", "meaning")]
    for key, field, parameter in model_parameters(Recipe):
        part = parameter is None or key in {"validators", "classifiers"}
        kind = "a part" if parameter is None else "parts" if part else parameter.shape
        default = "needed" if field.is_required() else _code(getattr(field.default, "use", field.default))
        rows.append((f"`{key}`", kind, default, field.description or ""))
    return rows


def _components(heading: str) -> str:
    """What is registered under a heading, each with its parameters."""
    parts = []
    for found in components(heading):
        if found.name not in BUILT_IN[heading]:
            continue  # a plug-in of this machine
        lines = [f"### {found.name}", f"{found.title}."]
        if found.parameters:
            rows = [
                (f"`{p.name}`", p.shape, "needed" if p.required else _code(p.default), p.about)
                for p in found.parameters
            ]
            lines.append(markdown([("parameter", "value", "default", "meaning"), *rows]))
        parts.append("\n\n".join(lines))
    return "\n\n".join(parts)


def _code(value: object) -> str:
    """A default as a recipe would write it; nothing at all is left out."""
    if value is None or value == "" or value == {}:
        return ""
    return f"`{json.dumps(list(value) if isinstance(value, tuple) else value)}`"


def _summary_of_zoo(own: dict[str, Entry]) -> list[tuple[str, ...]]:
    viable = "viable origins (published)"
    heading = (
        "domain",
        "classifier under test",
        "its test accuracy",
        *FAMILIES.values(),
        viable,
        "milliseconds per image",
    )
    return [heading, *(_row_of_zoo(domain, own) for domain in DOMAINS)]


def _row_of_zoo(domain: str, own: dict[str, Entry]) -> tuple[str, ...]:
    tested = own.get(str(load_domain(domain).classifier))
    generators, rows = [own.get(f"{domain}-{family}") for family in FAMILIES], {r.name: r for r in generator_rows()}
    viable = " / ".join(_figure(g, "viable_origins", "{:.1%}") for g in generators)
    published = " / ".join(f"{share}" for share in PUBLISHED_ORIGINS.get(domain, ()))
    return (
        DOMAINS[domain],
        tested.name if tested else "-",
        _figure(tested, "test_accuracy", "{:.2%}"),
        *(interval(rows[g.name].judged_valid, rows[g.name].judged_images) if g else "-" for g in generators),
        f"{viable} ({published} %)" if published else viable,
        " / ".join(_figure(g, "decode_ms", "{:.1f}") for g in generators),
    )


def _sheets() -> list[Path]:
    return sorted(SHEETS.glob("*.png"))


def _realism(generators: list[Entry]) -> list[tuple[str, ...]]:
    heading = ("generator", "recognised by the references", "FID", "KID", "features of", "made of")
    numbers = {"recognised": "{:.1%}", "fid": "{:.2f}", "kid": "{:.4f}"}
    rows = []
    for card in generators:
        measured = (card.model_extra or {}).get("measured", {})
        shown = [_figure(card, name, text) for name, text in numbers.items()]
        rows.append((card.name, *shown, measured.get("extractor", "-"), measured.get("made", "-")))
    return [heading, *rows]


def _classifiers(own: dict[str, Entry]) -> list[tuple[str, ...]]:
    heading = ("classifier", "domain", "purpose", "parameters", "size", "test accuracy", "training time")
    rows = []
    for row in zoo_rows():
        if row.name in own and row.purpose in {"classifier", "reference"}:
            card = own[row.name]
            accuracy, time = _figure(card, "test_accuracy", "{:.2%}"), duration(card.training_seconds)
            size = f"{card.bytes / 1e6:.2f} MB"
            rows.append((row.name, row.domain, row.purpose, f"{card.parameters:,}", size, accuracy, time))
    return [heading, *rows]


def _figure(card: Entry | None, name: str, text: str) -> str:
    return text.format(card.figures[name]) if card and name in card.figures else "-"


def _summary_of_judge(own: dict[str, Entry]) -> list[tuple[str, ...]]:
    heading = (
        "domain",
        "reference classifiers",
        "near the line: AUC",
        "real called invalid",
        "bad near the line called valid",
        "label kept, AUC",
        "real labels kept",
        "wrong labels called kept",
    )
    return [heading, *(_row_of_judge(domain, own) for domain in JUDGED)]


def _row_of_judge(domain: str, own: dict[str, Entry]) -> tuple[str, ...]:
    figures = own[str(load_domain(domain).judge)].figures
    accuracies = (100 * own[name].figures["test_accuracy"] for name in load_domain(domain).references)
    return (
        JUDGED[domain],
        " / ".join(f"{a:.2f}" for a in accuracies) + " %",
        f"{figures['validity_auc']:.3f}",
        f"{figures['real_called_invalid']:.1%}",
        f"{figures['invalid_called_valid']:.1%}",
        f"{figures['kept_auc']:.4f} / {figures['kept_auc_runner_up']:.4f}",
        f"{figures['real_kept']:.1%}",
        f"{figures['relabelled_called_kept']:.1%} / {figures['runner_up_called_kept']:.1%}",
    )


def _people() -> str:
    """What the judge and people say of the same images: a column per domain, with and without readers."""
    measured = json.loads((ROOT / "benchmarks" / "judge_people.json").read_text())
    shown = {name: found["tools"] for name, found in measured.items() if "tools" in found}
    labels = {name: DOMAINS[name.split()[0]] + (", without readers" if "alone" in name else "") for name in shown}
    figures = [f for f in next(iter(shown.values())) if f != "by tool, kept kappa"]
    rows = [(figure, *(_ranged(shown[name][figure]) for name in shown)) for figure in figures]
    return markdown([("figure", *labels.values()), *rows])


def _by_judge(benchmark: str, points: str) -> list[tuple[str, ...]]:
    """Judged share and FID at each of a model's points, of a benchmark that keeps its results model by model."""
    rows, known = [("model", points, "judged valid", "FID", "images")], results()
    for key in (key for key in known if key.startswith(f"{benchmark} (")):
        for at, point in sorted(known[key][points].items(), key=lambda found: float(found[0])):
            share, low, high = (100 * value for value in point["judged_valid"])
            when = f"{at} ({point['minutes']:.0f} min)" if "minutes" in point else at
            shown = (f"{share:.1f}% [{low:.1f}, {high:.1f}]", f"{point['fid']:.2f}", str(known[key]["images"]))
            rows.append((key.partition("(")[2].rstrip(")"), when, *shown))
    return rows


def _ranged(value: float | list[float]) -> str:
    """A figure; three numbers are a figure with its interval, two stand side by side."""
    if isinstance(value, list):
        return (
            f"{value[0]:.3f} ({value[1]:.3f} to {value[2]:.3f})"
            if len(value) == 3
            else f"{value[0]:.2f}, {value[1]:.2f}"
        )
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(filled(path.read_text()))
