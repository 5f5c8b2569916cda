"""Write the tables and pictures of docs/zoo.md anew, from the cards and from the contact sheets beside this file.

python docs/zoo/page.py
"""

from __future__ import annotations

import re
from pathlib import Path

from foible.zoo import Entry, cards
from foible.zoo.catalogue import WEIGHTS
from foible.zoo.table import duration, generator_rows, generator_table, markdown, zoo_rows

SHEETS = Path(__file__).parent
PAGE = SHEETS.with_suffix(".md")


def filled(page: str) -> str:
    """The page with every part between `<!-- name -->` and `<!-- end -->` made from what is there now."""
    own = {name: card for name, card in cards().items() if card.folder == WEIGHTS}
    parts = {
        "generators": markdown(generator_table([r for r in generator_rows() if r.name in own])),
        "realism": markdown(_realism([e for e in own.values() if e.role == "generators"])),
        "classifiers": markdown(_classifiers(own)),
        "sheets": "\n\n".join(f"**{p.stem}**\n\n![Images made by {p.stem}](zoo/{p.name})" for p in _sheets()),
    }
    for name, text in parts.items():
        page = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m, t=text: f"{m[1]}\n{t}\n\n{m[2]}", page, flags=re.DOTALL
        )
    return page


def _sheets() -> list[Path]:
    return sorted(SHEETS.glob("*.png"))


def _realism(generators: list[Entry]) -> list[tuple[str, ...]]:
    heading = ("generator", "recognised by the references", "FID", "KID", "features of", "made of")
    rows = []
    for card in generators:
        measured = (card.model_extra or {}).get("measured", {})
        numbers = [("recognised", "{:.1%}"), ("fid", "{:.2f}"), ("kid", "{:.4f}")]
        shown = [text.format(card.figures[name]) if name in card.figures else "-" for name, text in numbers]
        rows.append((card.name, *shown, measured.get("extractor", "-"), measured.get("made", "-")))
    return [heading, *rows]


def _classifiers(own: dict[str, Entry]) -> list[tuple[str, ...]]:
    heading = ("classifier", "domain", "purpose", "parameters", "size", "test accuracy", "training time")
    rows = []
    for row in zoo_rows():
        if row.name in own and row.purpose in {"classifier", "reference"}:
            card = own[row.name]
            accuracy, time = f"{card.figures['test_accuracy']:.2%}", duration(card.training_seconds)
            size = f"{card.bytes / 1e6:.2f} MB"
            rows.append((row.name, row.domain, row.purpose, f"{card.parameters:,}", size, accuracy, time))
    return [heading, *rows]


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
