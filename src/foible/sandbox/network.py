"""A model that is not trusted, behind the same face as any other: scores, gradients and activations from its worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from torch import Tensor

from foible.classifiers.network import Facts
from foible.errors import ModelError
from foible.sandbox.limits import MEANING, Limits, lacking, stated
from foible.sandbox.worker import Worker, as_array
from foible.types import Capability


class SandboxedNetwork:
    """A network in a worker process.

    Args:
        name: what to call it.
        kind: of model, as in the registry's table "kinds".
        settings: of that kind.
        files: all it needs to read.
        limits: what it may use.
        insist: go on although this machine cannot isolate it.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        settings: Mapping[str, Any],
        files: Sequence[Path],
        limits: Limits | None = None,
        insist: bool = False,
    ) -> None:
        self.name = name
        self.worker = Worker(name, files, limits or Limits())
        try:
            self.protections = self.worker.protections
            if (missing := lacking(self.protections)) and not insist:
                raise ModelError(
                    f"'{name}' is untrusted and this machine cannot isolate it: lacking {', '.join(missing)}",
                    "use a Linux kernel with Landlock and seccomp; or, if you know who made the file, say --trusted",
                )
            self.facts, self.offers = self._open(kind, settings)
        except BaseException:
            self.worker.close()
            raise
        self.notes = [f"sandbox: {stated(self.protections)}"]
        if missing:
            self.notes.append("sandbox: NOT protected: " + "; ".join(MEANING[m] for m in missing))

    def _open(self, kind: str, settings: Mapping[str, Any]) -> tuple[Facts, frozenset[Capability]]:
        paths = {k: str(Path(v).resolve()) for k, v in settings.items() if k == "path"}
        for key in ("factory", "function"):
            if ".py:" in str(settings.get(key, "")):
                source, _, attribute = str(settings[key]).rpartition(":")
                paths[key] = f"{Path(source).resolve()}:{attribute}"
        try:
            message = {"do": "open", "kind": kind, "settings": {**settings, **paths}}
            reply = self.worker.ask(message, self.worker.limits.load_seconds, "open its file")
            return Facts(**reply["facts"]), frozenset(Capability(o) for o in reply["offers"])
        except RuntimeError as error:
            raise ModelError(
                f"'{self.name}' cannot be opened: {error}", "it may be damaged, or do what is forbidden"
            ) from error
        except (ValidationError, KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"the worker of '{self.name}' answers nonsense", "its file is hostile or damaged"
            ) from error

    def __call__(self, inputs: Tensor) -> Tensor:
        """Raw scores (N, outputs), differentiable where the model is."""
        if inputs.requires_grad and Capability.GRADIENT in self.offers:
            scores: Tensor = _Remotely.apply(inputs, self)  # type: ignore[no-untyped-call]
            return scores
        return self.compute("scores", inputs)

    def compute(self, what: str, inputs: Tensor, **others: Tensor) -> Tensor:
        """One tensor from the worker."""
        arrays = {"images": as_array(inputs), **{k: as_array(v) for k, v in others.items()}}
        reply = self.worker.compute({"do": what}, arrays)
        if what not in reply:
            raise ModelError(f"the worker of '{self.name}' answers nonsense", "its file is hostile or damaged")
        return torch.from_numpy(reply[what]).to(inputs.device)

    def layers(self) -> tuple[str, ...]:
        """Names under which activations can be asked for."""
        reply = self.worker.ask({"do": "layers"}, self.worker.limits.call_seconds, "name its layers")
        return tuple(str(name) for name in reply.get("layers", ()))

    def activations(self, inputs: Tensor, layers: Sequence[str]) -> Mapping[str, Tensor]:
        """What these layers give, each (N, ...)."""
        reply = self.worker.compute({"do": "activations", "layers": list(layers)}, {"images": as_array(inputs)})
        return {k: torch.from_numpy(v).to(inputs.device) for k, v in reply.items()}

    def close(self) -> None:
        """End the worker."""
        self.worker.close()


class _Remotely(torch.autograd.Function):
    """Scores whose gradient is asked for where the model is."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, network: SandboxedNetwork) -> Tensor:
        ctx.network = network
        ctx.save_for_backward(inputs)
        return network.compute("scores", inputs)

    @staticmethod
    def backward(ctx: Any, *weights: Tensor) -> tuple[Tensor, None]:
        (inputs,) = ctx.saved_tensors
        return ctx.network.compute("gradient", inputs, weights=weights[0]), None
