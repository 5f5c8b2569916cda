"""What people have said about the very same pixels: in surveys, or on the workbench."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from torch import Tensor

from foible.digest import sha256
from foible.domains import Domain
from foible.errors import RecipeError
from foible.images import pixel_digest
from foible.records import Verdict
from foible.store import open_run
from foible.store.answers import TIE, keeping, read_answers, validity
from foible.store.layout import Layout
from foible.types import Images
from foible.validators.scored import About


class Human:
    """People as a validator: two verdicts on an image that they have seen, none on one that they have not.

    An image is known by its pixels, so that the same image in another run or another file is the same. The score about
    the image is the share of answers that name a class. The score about the label is how the expected class fares
    against its strongest rival: its votes over the votes of both. There is no verdict on a tie.

    Args:
        domain: whose classes people chose from; runs with other classes are passed over.
        answers: a run folder with answers, or a folder of such runs.
    """

    name = "human"

    def __init__(self, domain: Domain, answers: str) -> None:
        self.votes: dict[str, Counter[int]] = defaultdict(Counter)
        self.digests: dict[str, str] = {}
        for folder in _answered(Path(answers)):
            run = open_run(folder)
            if run.classes != domain.classes:
                continue
            said = read_answers(run.layout)
            for key in {key for mine in said.by_person.values() for key in mine}:
                self.votes[pixel_digest(run.image(run.finding(key).image))] += said.votes(key)
            self.digests[f"{folder.name}/{run.layout.answers.name}"] = sha256(run.layout.answers)
        if not self.votes:
            raise RecipeError(
                f"nobody has answered about images of '{domain.name}' in '{answers}'",
                "name a run folder that people have judged, or a folder of such runs",
            )

    def __call__(self, images: Images, labels: Tensor) -> list[tuple[Verdict, ...]]:
        """Two verdicts on an image with a majority, fewer where people are divided, none where nobody was asked."""
        said = []
        for image, label in zip(images, labels.tolist(), strict=True):
            votes = self.votes.get(pixel_digest(image), Counter())
            said.append((*_verdict("image", validity(votes)), *_verdict("label", keeping(votes, label))))
        return said


def _verdict(about: About, share: float | None) -> tuple[Verdict, ...]:
    return () if share is None or share == TIE else (Verdict(Human.name, share > TIE, round(share, 6), about, TIE),)


def _answered(folder: Path) -> list[Path]:
    """The run folders that people have answered for: this one, or those in it."""
    return [run for run in (folder, *sorted(folder.glob("*/"))) if Layout(run).answers.is_file()]
