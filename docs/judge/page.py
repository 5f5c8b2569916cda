"""Write the tables about the judge anew: in docs/judge.md and README.md, from the cards and from benchmarks/judge.json.

python docs/judge/page.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from foible.domains import load_domain
from foible.zoo import Entry, entries
from foible.zoo.table import markdown

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "judge.md")
DOMAINS = {"mnist": "MNIST", "fashion": "Fashion-MNIST", "svhn": "SVHN", "cifar10": "CIFAR-10"}
LABELS = ("relabelled", "second thought")


def filled(page: str) -> str:
    """The page with every part between `<!-- name -->` and `<!-- end -->` made from what is there now."""
    for name, text in {"judge": summary(), "curves": curves()}.items():
        page = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m, t=text: f"{m[1]}\n{t}\n\n{m[2]}", page, flags=re.DOTALL
        )
    return page


def summary() -> str:
    """One row per domain, from the cards."""
    heading = (
        "domain",
        "reference classifiers",
        "validity, AUC",
        "real called invalid",
        "invalid called valid",
        "label kept, AUC",
        "real labels kept",
        "wrong labels called kept",
        "per image",
    )
    judges = {d: entries().get(str(load_domain(d).judge)) for d in DOMAINS}
    return markdown([heading, *(_row(d, judge) for d, judge in judges.items() if judge)])


def _row(domain: str, judge: Entry) -> tuple[str, ...]:
    figures = judge.figures
    accuracies = (100 * entries()[name].figures["test_accuracy"] for name in load_domain(domain).references)
    return (
        DOMAINS[domain],
        " / ".join(f"{a:.2f}" for a in accuracies) + " %",
        f"{figures['validity_auc']:.4f}",
        f"{figures['real_called_invalid']:.1%}",
        f"{figures['invalid_called_valid']:.1%}",
        f"{figures['kept_auc']:.4f} / {figures['kept_auc_runner_up']:.4f}",
        f"{figures['real_kept']:.1%}",
        f"{figures['relabelled_called_kept']:.1%} / {figures['runner_up_called_kept']:.1%}",
        f"{figures['judge_ms']:.1f} ms",
    )


def curves() -> str:
    """For each domain the curves, and what every validator does with every kind of image."""
    measured = json.loads((ROOT / "benchmarks" / "judge.json").read_text())
    return "\n\n".join(_domain(d, measured[d]) for d in DOMAINS if d in measured)


def _domain(domain: str, results: dict[str, dict[str, dict[str, float]]]) -> str:
    about_images = {name: kinds for name, kinds in results.items() if "all invalid" in kinds}
    kinds = list(dict.fromkeys(k for kinds in about_images.values() for k in kinds if k not in LABELS))
    heading = ("real images against", *about_images)
    rows = [(kind, *(_cell(about_images[name][kind]) for name in about_images)) for kind in kinds]
    voters = {name: found for name, found in results.items() if LABELS[0] in found}
    labels = [(kind, *(_cell(voters[name][kind]) for name in voters)) for kind in LABELS]
    return "\n\n".join(
        (
            f"### {DOMAINS[domain]}",
            f"![ROC curves of the validators on {DOMAINS[domain]}](judge/{domain}.png)",
            markdown([heading, *rows]),
            markdown([("real labels against", *voters), *labels]),
        )
    )


def _cell(found: dict[str, float]) -> str:
    return f"{found['auc']:.4f} ({found['good_accepted']:.1%}, {found['bad_accepted']:.1%})"


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(filled(path.read_text()))
