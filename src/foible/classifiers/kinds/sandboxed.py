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
        return self._passed(inputs, ())[0]

    def inspect(self, inputs: Tensor, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Raw scores, and what these layers give, each (N, ...); differentiable where the model is."""
        scores, *values = self._passed(inputs, tuple(dict.fromkeys(layers)))
        return scores, dict(zip(dict.fromkeys(layers), values, strict=True))

    def _passed(self, inputs: Tensor, layers: tuple[str, ...]) -> tuple[Tensor, ...]:
        if inputs.requires_grad and torch.is_grad_enabled() and Capability.GRADIENT in self.offers:
            outputs: tuple[Tensor, ...] = _Remotely.apply(inputs, self, layers)  # type: ignore[no-untyped-call]
            return outputs
        return self.outputs(inputs, layers)

    def outputs(self, inputs: Tensor, layers: tuple[str, ...]) -> tuple[Tensor, ...]:
        """Scores and activations from the worker."""
        message = {"do": "outputs", "layers": list(layers)}
        return self._asked(message, {"images": inputs}, [str(k) for k in range(len(layers) + 1)])

    def gradient(self, inputs: Tensor, layers: tuple[str, ...], weights: Sequence[Tensor | None]) -> Tensor:
        """Gradient of the weighted sum of scores and activations with respect to the inputs."""
        given = {str(k): w for k, w in enumerate(weights) if w is not None}
        message = {"do": "gradient", "layers": list(layers)}
        return self._asked(message, {"images": inputs, **given}, ["gradient"])[0]

    def _asked(
        self, message: Mapping[str, Any], given: Mapping[str, Tensor], names: Sequence[str]
    ) -> tuple[Tensor, ...]:
        reply = self.worker.compute(message, {k: as_array(v) for k, v in given.items()})
        if not all(name in reply for name in names):
            raise ModelError(f"the worker of '{self.name}' answers nonsense", "its file is hostile or damaged")
        return tuple(torch.from_numpy(reply[name]).to(given["images"].device) for name in names)

    def layers(self) -> tuple[str, ...]:
        """Names under which activations can be asked for."""
        reply = self.worker.ask({"do": "layers"}, self.worker.limits.call_seconds, "name its layers")
        return tuple(str(name) for name in reply.get("layers", ()))

    def close(self) -> None:
        """End the worker."""
        self.worker.close()


class _Remotely(torch.autograd.Function):
    """Scores and activations whose gradient is asked for where the model is."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, network: SandboxedNetwork, layers: tuple[str, ...]) -> tuple[Tensor, ...]:
        ctx.network, ctx.layers = network, layers
        ctx.save_for_backward(inputs)
        ctx.set_materialize_grads(False)
        return network.outputs(inputs, layers)

    @staticmethod
    def backward(ctx: Any, *weights: Tensor | None) -> tuple[Tensor, None, None]:
        (inputs,) = ctx.saved_tensors
        return ctx.network.gradient(inputs, ctx.layers, weights), None, None
