"""foible finds realistic images on which an image classifier fails, and keeps each one replayable.

    import foible

    run = foible.run("demo", out="runs/first")
    for finding in run.findings():
        print(run.classes[finding.label], "taken for", run.classes[finding.predicted])

Everything loads on first use: importing foible is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foible.late import on_first_use

if TYPE_CHECKING:
    from foible.api import check as check
    from foible.api import run as run
    from foible.campaign import Campaign as Campaign
    from foible.campaign import Recipe as Recipe
    from foible.campaign import assemble as assemble
    from foible.campaign import load_recipe as load_recipe
    from foible.campaign.replay import replay as replay
    from foible.classifiers.load import load_classifier as classifier  # noqa: F401
    from foible.domains import load_domain as load_domain
    from foible.errors import FoibleError as FoibleError
    from foible.judging import judge as judge
    from foible.records import Finding as Finding
    from foible.report import summarise as summarise
    from foible.report import write_page as write_page
    from foible.report.comparison import compare as compare
    from foible.store import Run as Run
    from foible.store import open_run as open_run

_HOME = {
    "Campaign": "foible.campaign",
    "Finding": "foible.records",
    "FoibleError": "foible.errors",
    "Recipe": "foible.campaign",
    "Run": "foible.store",
    "assemble": "foible.campaign",
    "check": "foible.api",
    "compare": "foible.report.comparison",
    "classifier": "foible.classifiers.load:load_classifier",
    "judge": "foible.judging",
    "load_domain": "foible.domains",
    "load_recipe": "foible.campaign",
    "open_run": "foible.store",
    "replay": "foible.campaign.replay",
    "run": "foible.api",
    "summarise": "foible.report",
    "write_page": "foible.report",
}

__all__ = sorted(_HOME)


__getattr__ = on_first_use(__name__, _HOME)


def __dir__() -> list[str]:
    return __all__
