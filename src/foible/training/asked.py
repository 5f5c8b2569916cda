"""What people answered about images of the domain: the weights of a judge are drawn to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foible.domains import Domain
from foible.domains.sources import data_folders
from foible.errors import DataError
from foible.judging.arrays import as_images
from foible.judging.refit import UNKNOWN, Answered, reweighed
from foible.types import Images
from foible.validators.evidence import Evidence
from foible.validators.parts import Weighing


@dataclass(frozen=True)
class Asked:
    """Images, the class each was made for, which tool made it, and two people's answers (N, 2): a class, or below 0 for none."""

    images: Images
    labels: Tensor
    tools: NDArray[np.str_]
    said: Tensor

    def answered(self, evidence: Evidence) -> Answered:
        """The answers beside scaled evidence on the images; what two people are divided about is unknown."""
        first, second = self.said.unbind(1)
        named = torch.where((first == second) & (first >= 0), first, UNKNOWN)
        return Answered(evidence, self.labels, _both(self.said >= 0), _both(self.said == self.labels[:, None]), named)


def _both(answers: Tensor) -> Tensor:
    """1 or 0 where two people agree (N,), UNKNOWN elsewhere."""
    return torch.where(answers[:, 0] == answers[:, 1], answers[:, 0].long(), UNKNOWN)


def drawn(start: Weighing, answered: Answered) -> Weighing:
    """A weighing drawn to people's answers about validity: some of its evidence counts for more, all together is as loud as before.

    The trust in the sources of classes stays: drawn along, it left kappa where it was and cost one of a hundred real labels.
    """
    weights = reweighed(start, answered, start.weights > 0).weights
    loud = start.weights.sum() / weights.sum()
    return Weighing(weights * loud, start.bias.clone(), start.trust.clone())  # a file may hold no tensor twice


def people_asked(domain: Domain, file: str) -> Asked:
    """Answers in a data folder: an npz with images (N, H, W, C), expected, tool, human1 and human2."""
    path = next((p for folder in data_folders() if (p := folder / file).is_file()), None)
    if path is None:
        raise DataError(f"no '{file}' in the data folders", "set FOIBLE_DATA, or leave `people` out of the recipe")
    return read_answers(path, domain)


def read_answers(path: Path, domain: Domain) -> Asked:
    """The answers in a file."""
    try:
        with np.load(path) as members:
            pixels, expected, tools = members["images"], members["expected"], members["tool"]
            said = np.stack([members["human1"], members["human2"]], 1)
    except (KeyError, ValueError, OSError) as error:
        raise DataError(
            f"'{path}' holds no answers: {error}", "it needs images, expected, tool, human1 and human2"
        ) from error
    images = as_images(torch.from_numpy(pixels), domain.shape)
    return Asked(images, torch.from_numpy(expected).long(), tools, torch.from_numpy(said).long())
