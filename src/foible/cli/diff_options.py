"""The options of `foible diff` that no other verb has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def _named(text: str, *names: str, **rules: Any) -> Any:
    return typer.Option(*names, help=text, show_default=False, **rules)


A = Annotated[str, typer.Argument(help="The model as it was: zoo name, model file, hub name ...", show_default=False)]
B = Annotated[str | None, typer.Argument(help="The model it is compared with; or use --variant.", show_default=False)]
Variant = Annotated[str | None, _named("B is a compressed A: int8-weights, int8, float16, bfloat16, pruned ...")]
Also = Annotated[list[str] | None, _named("One more model to compare with. Repeatable.")]
Samples = Annotated[int, typer.Option(help="Random images to count disagreements on.", min=0)]
Filter = Annotated[
    list[str] | None,
    _named("Count what a validator lets through: discriminator, ssim, judge ... Repeatable.", "--filter"),
]
Published = Annotated[
    bool, typer.Option("--published", help="Diversity as DiffGAN's tables have it, too. It misleads: see the docs.")
]
Realism = Annotated[bool, typer.Option("--realism", help="FID and KID of the disagreements against real images.")]
Selector = Annotated[
    bool, typer.Option("--selector", help="Fit and measure a run-time selector: whom to believe when.")
]
Survey = Annotated[
    int, typer.Option(help="Make a survey page of so many disagreements where people's answers pay most.", min=0)
]
SaveCorpus = Annotated[Path | None, _named("Write the disagreements found as a corpus file.")]
CorpusFile = Annotated[Path | None, _named("Search nothing: ask both models about a corpus again.", "--corpus")]
Accept = Annotated[bool, typer.Option("--accept", help="With --corpus: record today's differences as accepted.")]
Parity = Annotated[
    bool, typer.Option("--parity", help="Search nothing: map how far scores drift, by model and batch size.")
]
Reuse = Annotated[bool, typer.Option("--reuse", help="Is B derived from A? Whether it makes A's own mistakes.")]
Unrelated = Annotated[
    list[str] | None,
    _named("With --reuse: a model trained apart from A. Repeatable [default: the zoo's others]."),
]
