"""`foible judge`: which images made by anyone count?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def judge(
    images: Annotated[
        Path, typer.Argument(help="A folder of PNG/JPEG/NPY, a class-per-folder tree, an npz, or a picture.")
    ],
    domain: Annotated[str, typer.Option(help="What they are meant to be of: a domain name or a domain .toml.")],
    labels: Annotated[
        Path | None,
        typer.Option(help="A csv with the columns file,expected (class number or name).", show_default=False),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            help="Thresholds fitted to people's answers: foible survey report RUN --recalibrate FILE.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the verdicts go.")] = Path("verdicts.csv"),
) -> int:
    """Judge images made by anyone: valid or not, and whether they show the class they should.

    Writes one line per image: file, expected, valid, validity, label, label_name, kept, kept_score.
    """
    from foible.domains import load_domain
    from foible.judging.files import judge_files, write_verdicts
    from foible.metrics import rate

    damaged: list[str] = []
    said = write_verdicts(out, judge_files(images, load_domain(domain), labels, calibration, damaged))
    asked = [v for v in said if v.kept is not None]
    lines = {
        "valid": rate(sum(v.valid for v in said), len(said)),
        "label kept": rate(sum(bool(v.kept) for v in asked), len(asked)),
        "valid and label kept": rate(sum(v.valid and bool(v.kept) for v in asked), len(asked)),
    }
    for name, share in lines.items():
        if share.total:
            print(
                f"{name:<22}{share.count:>6} of {share.total:<6} {share.share:6.1%}  ({share.low:.1%} to {share.high:.1%})"
            )
    print(f"written to {out}")
    for reason in damaged:
        print(f"left out: {reason}", file=sys.stderr)
    return 3 if damaged else 0
