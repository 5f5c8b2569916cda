"""`foible check`: what can be known to be wrong before a run."""

from __future__ import annotations

from foible.cli.options import Attempts, ClassifierOption, Data, Device, Generator, RecipeArgument, Set, recipe_changes
from foible.cli.terminal import console
from foible.plain import plain


def check(
    recipe: RecipeArgument,
    attempts: Attempts = None,
    generator: Generator = None,
    classifier: ClassifierOption = None,
    data: Data = None,
    set_: Set = None,
    device: Device = None,
) -> int:
    """Say what is wrong before a run.

    Looks at the recipe, its models and its data without searching anything.
    """
    from rich.table import Table
    from rich.text import Text

    from foible.campaign import assemble, load_recipe
    from foible.campaign import check as check_campaign

    changes = recipe_changes(
        set_, attempts=attempts, generator=generator, classifier=classifier, data=data, device=device
    )
    checkup = check_campaign(assemble(load_recipe(recipe, changes)))
    table = Table(box=None, show_header=False, pad_edge=False)
    colours = {"ok": "green", "warning": "yellow", "wrong": "red"}
    for line in checkup.lines:
        table.add_row(
            Text(line.level, style=colours[line.level]),
            line.about,
            Text(plain(line.message + (f"\nhint: {line.hint}" if line.hint else ""))),
        )
    console().print(table)
    return 2 if checkup.wrong else 0
