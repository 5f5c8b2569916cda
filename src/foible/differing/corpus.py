"""A corpus file: disagreements that were found once, to be asked again of every version to come.

One .npz: `images` (uint8, N x C x H x W), `expected` (class numbers, -1 where unknown), `tested` and `rival`
(probabilities as they were found), `accepted` (what B may answer although A answers otherwise, -1: nothing), `classes` and
`names`. No pickles.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foible.differing.answers import Answers, ask, in_batches
from foible.differing.truth import expected_classes
from foible.errors import DataError
from foible.files import write_whole
from foible.images import to_bytes, to_images
from foible.protocols import Classifier, Validator
from foible.store import Run
from foible.types import RIVAL, TESTED

FIELDS = ("images", "expected", TESTED, RIVAL, "classes", "names")


@dataclass(frozen=True)
class Corpus:
    """Images with what was expected of them and what two models said when they were found."""

    images: NDArray[np.uint8]
    expected: Tensor
    tested: Tensor
    rival: Tensor
    classes: tuple[str, ...]
    names: tuple[str, ...]
    accepted: Tensor = field(default_factory=lambda: torch.empty(0, dtype=torch.long))

    def __post_init__(self) -> None:
        if not len(self.accepted):
            object.__setattr__(self, "accepted", torch.full_like(self.expected, -1))

    def __len__(self) -> int:
        return len(self.images)

    @property
    def answers(self) -> Answers:
        """What the two said."""
        return Answers.of_scores(self.tested.log(), self.rival.log(), self.expected)

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            images=self.images,
            expected=self.expected.numpy(),
            tested=self.tested.numpy(),
            rival=self.rival.numpy(),
            accepted=self.accepted.numpy(),
            classes=np.array(self.classes),
            names=np.array(self.names),
        )
        write_whole(path, buffer.getvalue())


def corpus_of(run: Run, names: tuple[str, str], validators: Sequence[Validator] = ()) -> tuple[Corpus, str]:
    """The findings of a run with what is expected of them, and by whose word (`truth.py`)."""
    findings = list(run.findings())
    shown = [run.image(f.image) for f in findings]
    images = torch.stack(shown) if shown else torch.empty(0, *run.manifest.shape)
    expected, by = expected_classes(run, findings, images, validators)
    said = {
        role: torch.tensor([f.after[role] for f in findings]).view(-1, len(run.classes)) for role in (TESTED, RIVAL)
    }
    return Corpus(to_bytes(images), expected, said[TESTED], said[RIVAL], tuple(run.classes), names), by


def load_corpus(path: Path, classes: tuple[str, ...], shape: tuple[int, ...]) -> Corpus:
    """Read a corpus; one of other classes or another shape is refused."""
    try:
        with np.load(path, allow_pickle=False) as file:
            facts = {name: file[name] for name in FIELDS}
            accepted = file["accepted"] if "accepted" in file else np.full(len(facts["expected"]), -1)  # since 0.2
    except FileNotFoundError:
        raise DataError(f"no corpus '{path}'", "make one with --save-corpus FILE") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"'{path}' is no corpus: {error}", "make one with --save-corpus FILE") from error
    corpus = Corpus(
        facts["images"],
        torch.from_numpy(facts["expected"]).long(),
        torch.from_numpy(facts[TESTED]).float(),
        torch.from_numpy(facts[RIVAL]).float(),
        tuple(facts["classes"].tolist()),
        tuple(facts["names"].tolist()),
        torch.from_numpy(accepted).long(),
    )
    if corpus.classes != tuple(classes) or tuple(corpus.images.shape[1:]) != tuple(shape):
        raise DataError(
            f"corpus '{path}' has {len(corpus.classes)} classes and images of shape {tuple(corpus.images.shape[1:])}, "
            f"the domain {len(classes)} and {tuple(shape)}",
            "name the domain that it was made in",
        )
    counts = {len(c) for c in (corpus.images, corpus.expected, corpus.tested, corpus.rival, corpus.accepted)}
    if len(counts) != 1 or corpus.images.dtype != np.uint8:
        raise DataError(f"'{path}' is damaged: its columns have {sorted(counts)} rows", "make it again")
    return corpus


def replay(corpus: Corpus, a: Classifier, b: Classifier) -> Answers:
    """What two models say of the images now."""
    return ask(
        a, b, in_batches(len(corpus), lambda index: (to_images(corpus.images[index.numpy()]), corpus.expected[index]))
    )


def accepting(corpus: Corpus, now: Answers) -> Corpus:
    """The corpus with all differences of today recorded as accepted: B's answer where it is not A's."""
    return replace(corpus, accepted=torch.where(now.differ, now.b, corpus.accepted))


def replay_figures(corpus: Corpus, now: Answers) -> dict[str, float | None]:
    """What has changed, as numbers for a gate."""
    then, known = corpus.answers, corpus.expected >= 0
    accepted = now.differ & (now.b == corpus.accepted)
    return {
        "corpus_images": len(corpus),
        "corpus_disagreements": now.disagreements,
        "corpus_accepted": int(accepted.sum()),
        "corpus_new": int((now.differ & ~accepted).sum()),
        "corpus_changed_a": int((then.a != now.a).sum()),
        "corpus_changed_b": int((then.b != now.b).sum()),
        "corpus_wrong_a": int((known & (now.a != corpus.expected)).sum()),
        "corpus_wrong_b": int((known & (now.b != corpus.expected)).sum()),
        "corpus_regressions": int((known & (now.a == corpus.expected) & (now.b != corpus.expected)).sum()),
        "corpus_largest_gap": now.largest_gap,
    }
