"""A plain Python function on arrays: scikit-learn, TensorFlow, a lookup table, anything.

def predict(images):          # float32 (N, H, W, C), values in [0, 1]
    return scores             # (N, classes): logits, probabilities or log-probabilities
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foible.classifiers.kinds.archive import whole_file
from foible.classifiers.network import Facts
from foible.errors import ModelError, RecipeError
from foible.registry import from_file, names_a_file
from foible.types import Capability


class FunctionNetwork:
    """A function from arrays to scores: a black box without gradients or activations.

    Args:
        function: `file.py:predict`, or the function itself.
    """

    offers: frozenset[Capability] = frozenset()

    def __init__(self, function: str | Callable[[Any], Any]) -> None:
        self.function = from_file(function) if isinstance(function, str) else function
        if not callable(self.function):
            raise RecipeError(f"'{function}' is a {type(self.function).__name__}, expected a function on arrays")
        self.facts = Facts(source="the function", layout="nhwc")

    @staticmethod
    def files(function: str | Callable[[Any], Any]) -> tuple[Path, ...]:
        """The source file."""
        return (whole_file(Path(function.rpartition(":")[0])),) if isinstance(function, str) else ()

    def __call__(self, inputs: Tensor) -> Tensor:
        """Raw scores (N, outputs)."""
        scores = np.asarray(self.function(inputs.detach().cpu().numpy()))
        if scores.dtype.kind not in "fiub":
            raise ModelError(f"the function gave an array of {scores.dtype}, expected numbers (N, classes)")
        return torch.from_numpy(np.ascontiguousarray(scores, dtype=np.float32)).to(inputs.device)


def is_function_on_arrays(reference: str) -> bool:
    """Whether `file.py:name` is a function with an argument to fill, told by reading the file, not by running it.

    A class, or a function that needs no argument, makes a classifier; a function that needs one is the classifier.
    """
    if not names_a_file(reference):
        return False
    path, _, name = reference.rpartition(":")
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    definitions = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    return any(len(d.args.posonlyargs) + len(d.args.args) > len(d.args.defaults) for d in definitions)
