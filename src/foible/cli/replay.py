"""`foible replay`: do stored failures still fail?"""

from __future__ import annotations

from typing import Annotated

import typer

from foible.cli.options import ClassifierOption, Quiet, RunArgument, Trust, with_trust


def replay(
    run: RunArgument,
    findings: Annotated[
        list[str] | None,
        typer.Argument(help="Only these failures: 12, or 12-3 for the fourth of attempt 12.", show_default=False),
    ] = None,
    classifier: ClassifierOption = None,
    trust: Trust = False,
    quiet: Quiet = False,
) -> int:
    """Do stored failures still fail?

    Reads findings back from their PNG files and classifies them again, or asks another classifier.
    """
    from foible.campaign.replay import replay as replay_run
    from foible.records import Key
    from foible.store import open_run

    opened = open_run(run)
    changes: dict[str, object] = {"classifier": classifier} if classifier else {}
    keys = [Key.read(text) for text in findings] if findings else None
    results = with_trust(lambda trust: list(replay_run(opened, keys, changes=changes, trust=trust)), trust)
    for r in results:
        expected = opened.classes[r.finding.label]
        if r.problem:
            print(f"{r.finding.key.padded}  damaged: {r.problem}")
        elif not quiet:
            said = opened.classes[r.predicted or 0]
            print(
                f"{r.finding.key.padded}  {expected} taken for {said}"
                if r.fails
                else f"{r.finding.key.padded}  {expected} recognised: no failure"
            )
    failing, damaged = sum(r.fails for r in results), sum(bool(r.problem) for r in results)
    print(f"{failing} of {len(results)} failures still fail" + (f", {damaged} damaged" if damaged else ""))
    if damaged:
        return 3
    return 0 if failing == len(results) or classifier else 1
