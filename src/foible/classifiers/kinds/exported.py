"""Exported programs: `torch.export.save(torch.export.export(model, ...), "model.pt2")`.

Reading one can run pickled code. Unless the user allows pickles, torch is told to read plain tensors only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor, nn

from foible.classifiers.activations import layer_names, run_and_record
from foible.classifiers.kinds.archive import Content, torch_content, whole_file
from foible.classifiers.network import Facts, Precision, first_tensor
from foible.errors import ModelError
from foible.types import Capability

PRECISIONS: dict[torch.dtype, Precision] = {
    torch.float32: "float32",
    torch.float16: "float16",
    torch.float64: "float64",
    torch.uint8: "uint8",
}


class ExportedNetwork:
    """An exported program: scores, gradients, and activations by the names its modules had.

    Args:
        path: the file.
        pickles: read it even where that runs pickled code.
    """

    offers = frozenset({Capability.GRADIENT, Capability.ACTIVATIONS})

    def __init__(self, path: str, pickles: bool = False) -> None:
        try:
            with plain_tensors_only(not pickles):
                self.program = torch.export.load(path)
        except Exception as error:  # torch raises many kinds here, none of them documented
            raise ModelError(
                f"exported program '{path}' cannot be loaded: {str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}",
                "it may be damaged, written by another torch, or hold pickled code (pickles = true runs it)",
            ) from error
        self.facts = _facts(self.program)
        self.module: nn.Module = self.program.module().requires_grad_(False)

    @staticmethod
    def files(path: str, pickles: bool = False) -> tuple[Path, ...]:  # noqa: ARG004
        """The file itself, after a look at its table of contents."""
        whole_file(Path(path))
        if (content := torch_content(Path(path))) is not Content.EXPORTED:
            raise ModelError(f"'{path}' holds {content}, not an exported program", "save it with torch.export.save")
        return (Path(path),)

    @cached_property
    def unflattened(self) -> nn.Module:
        """The same program with the modules it was exported from."""
        with torch.inference_mode(False):  # what is made inside inference mode could never lend a gradient
            return torch.export.unflatten(self.program).requires_grad_(False)

    def __call__(self, inputs: Tensor) -> Tensor:
        """Raw scores (N, outputs)."""
        return first_tensor(self.module(inputs))

    def layers(self) -> tuple[str, ...]:
        """The names of the modules it was exported from."""
        return layer_names(self.unflattened)

    def inspect(self, inputs: Tensor, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Raw scores and the outputs of these modules."""
        output, seen = run_and_record(self.unflattened, inputs, layers)
        return first_tensor(output), seen

    def to(self, device: torch.device) -> None:
        """Move to a device."""
        self.module.to(device)
        self.unflattened.to(device)


@contextmanager
def plain_tensors_only(wanted: bool = True) -> Iterator[None]:
    """While inside, torch reads tensors and refuses pickled code, whatever its own loaders ask for; or the opposite."""
    name = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
    before = os.environ.get(name)
    os.environ[name] = "1" if wanted else "0"
    try:
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before


def _facts(program: torch.export.ExportedProgram) -> Facts:
    """Shape and precision of the first input, as far as the program fixes them."""
    first = program.graph_signature.user_inputs[0]
    node = next(n for n in program.graph.nodes if n.name == first)
    value = node.meta["val"]
    fixed = [d if isinstance(d, int) else None for d in value.shape]
    if len(fixed) != 4:
        raise ModelError(f"the exported program takes inputs with {len(fixed)} dimensions, expected (N, C, H, W)")
    batch, channels, height, width = fixed
    return Facts(
        source="the exported program",
        channels=channels,
        size=(height, width) if height and width else None,
        batch=batch,
        dtype=PRECISIONS.get(value.dtype, "float32"),
    )
