"""`foible judge`: which images made by anyone count?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from foible.judging.files import FileVerdict

SHOWN = 10  # images whose reasons are printed


def judge(
    images: Annotated[
        Path | None,
        typer.Argument(
            help="A folder of PNG/JPEG/NPY, a class-per-folder tree, an npz, or a picture.", show_default=False
        ),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(help="What they are meant to be of: a domain name or a domain .toml.", show_default=False),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="A csv with the columns file,expected (class number or name).", show_default=False),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(help="A judge fitted to people's answers, as --refit writes it.", show_default=False),
    ] = None,
    refit: Annotated[
        Path | None,
        typer.Option(help="Refit the judge to people's answers about this run; judges no images.", show_default=False),
    ] = None,
    shares: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="With --refit, where nobody was asked: shares of such failures that people call valid, and that also "
            "keep their label; thresholds are moved until the judge says so of this run's.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Where the verdicts go [default: verdicts.csv], or the refitted judge [default: RUN/judge.toml].",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Judge images made by anyone: valid or not, and whether they show the class they should.

    Writes one line per image: file, expected, valid, validity, label, label_name, kept, kept_score, ambiguity, why.
    With --refit RUN, after `foible survey import`, the judge is fitted to people instead.
    """
    from foible.errors import RecipeError

    if refit is not None:
        if images is not None:
            raise RecipeError("--refit takes a run, and judges no images", "leave the folder out")
        return _refit(refit, domain, out or refit / "judge.toml", shares)
    if shares is not None:
        raise RecipeError("--shares is for --refit", "foible judge --refit RUN --shares 0.73 0.42")
    if images is None or domain is None:
        raise RecipeError(
            "there is nothing to judge" if images is None else "of which domain are these images?",
            "foible judge FOLDER --domain mnist, or foible judge --refit RUN",
        )
    return _judge(images, domain, labels, calibration, out or Path("verdicts.csv"))


def _judge(images: Path, domain: str, labels: Path | None, calibration: Path | None, out: Path) -> int:
    from foible.domains import load_domain
    from foible.judging.files import judge_files, write_verdicts
    from foible.metrics import rate
    from foible.report.counting import known_error
    from foible.validators.judge import Judge

    chosen, damaged = load_domain(domain), list[str]()
    said = write_verdicts(out, judge_files(images, chosen, labels, calibration, damaged))
    asked = [v for v in said if v.kept is not None]
    lines = {
        "valid, label kept": rate(sum(v.valid and bool(v.kept) for v in asked), len(asked)),
        "valid": rate(sum(v.valid for v in said), len(said)),
        "label kept": rate(sum(bool(v.kept) for v in asked), len(asked)),
    }
    for name, share in lines.items():
        if share.total:
            print(
                f"{name:<22}{share.count:>6} of {share.total:<6} {share.share:6.1%}  ({share.low:.1%} to {share.high:.1%})"
            )
    judge = Judge(chosen, calibration)
    print(judge.company())
    if error := known_error(judge.digests):
        print(error)
    print("\n".join(_reasons(said)))
    print(f"written to {out}")
    for reason in damaged:
        print(f"left out: {reason}", file=sys.stderr)
    return 3 if damaged else 0


def _reasons(said: list[FileVerdict]) -> list[str]:
    """Why images do not count, those first that were the clearest."""
    refused = [v for v in said if not v.valid or v.kept is False]
    worst = sorted(refused, key=lambda v: v.validity if v.kept_score is None else min(v.validity, v.kept_score))
    lines = [f"  {v.file}: {'label not kept' if v.valid else 'not valid'}: {v.why}" for v in worst[:SHOWN]]
    if len(refused) > SHOWN:
        lines.append(f"  and {len(refused) - SHOWN} more")
    return lines


def _refit(run: Path, domain: str | None, out: Path, shares: tuple[float, float] | None) -> int:
    from foible.domains import load_domain
    from foible.judging.people import refit_lines, refit_to_people
    from foible.judging.shares import refit_to_shares, shares_lines
    from foible.store import open_run

    opened, chosen = open_run(run), load_domain(domain) if domain else None
    if shares is not None:
        moved = refit_to_shares(opened, *shares, chosen)
        moved.calibration.save(out)
        print("\n".join(shares_lines(moved, out)))
        return 0
    done = refit_to_people(opened, chosen)
    done.calibration.save(out)
    print("\n".join(refit_lines(done, out)))
    return 0
