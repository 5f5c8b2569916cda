"""TorchScript files: `torch.jit.script(model).save("model.pt")`. They carry code: treat one as a program."""

from __future__ import annotations

import warnings
from pathlib import Path

import torch
from torch import Tensor

from foible.classifiers.kinds.archive import Content, torch_content, whole_file
from foible.classifiers.network import Facts, first_tensor
from foible.errors import ModelError
from foible.types import Capability


class TorchScriptNetwork:
    """A TorchScript model: scores and gradients; its layers cannot be watched.

    Args:
        path: the file.
    """

    offers = frozenset({Capability.GRADIENT})

    def __init__(self, path: str) -> None:
        self.facts = Facts()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # torch.jit is deprecated, the files are not gone
                self.module = torch.jit.load(path, map_location="cpu").eval()
        except (RuntimeError, ValueError, OSError) as error:
            raise ModelError(
                f"TorchScript file '{path}' cannot be loaded: {str(error).strip().splitlines()[0]}",
                "it may be truncated, or written by a newer torch: save it again",
            ) from error
        for parameter in self.module.parameters():
            parameter.requires_grad_(False)

    @staticmethod
    def files(path: str) -> tuple[Path, ...]:
        """The file itself, after a look at its table of contents."""
        whole_file(Path(path))
        if (content := torch_content(Path(path))) is not Content.TORCHSCRIPT:
            raise ModelError(f"'{path}' holds {content}, not TorchScript", 'leave out use = "torchscript"')
        return (Path(path),)

    def __call__(self, inputs: Tensor) -> Tensor:
        """Raw scores (N, outputs)."""
        return first_tensor(self.module(inputs))

    def to(self, device: torch.device) -> None:
        """Move to a device."""
        self.module.to(device)
