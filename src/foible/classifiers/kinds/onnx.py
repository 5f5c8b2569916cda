"""ONNX files, run by onnxruntime on the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foible.classifiers.activations import known_layers
from foible.classifiers.kinds.archive import whole_file
from foible.classifiers.network import Facts, Precision
from foible.errors import MissingExtra, ModelError
from foible.types import Capability

PRECISIONS: dict[str, Precision] = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
    "tensor(uint8)": "uint8",
}


class OnnxNetwork:
    """An ONNX model: scores, and activations by node name; the format has no gradients.

    Args:
        path: the file; weights kept outside it must be in `<path>.data`, as torch writes them.
        threads: used within one call; None takes torch's number.
    """

    offers = frozenset({Capability.ACTIVATIONS})

    def __init__(self, path: str, threads: int | None = None) -> None:
        self.path, self.threads = path, threads
        self._proto = _read(path)
        _only_known_files(self._proto, Path(path))
        self._session = self._open(path)
        self._input = self._session.get_inputs()[0]
        self._output = next((o for o in self._session.get_outputs() if len(o.shape or ()) == 2), None)
        if self._output is None:
            shapes = [o.shape for o in self._session.get_outputs()]
            raise ModelError(f"ONNX file '{path}' has outputs of shape {shapes}, expected one of (N, classes)")
        self._nodes = {n.name or n.output[0]: n.output[0] for n in self._proto.graph.node if n.output}
        self._watching: tuple[tuple[str, ...], Any] = ((), None)
        self.facts = _facts(self._input, path)

    @staticmethod
    def files(path: str, threads: int | None = None) -> tuple[Path, ...]:  # noqa: ARG004
        """The file, and its weights where they are kept beside it."""
        return (whole_file(Path(path)), *beside(Path(path)))

    def __call__(self, inputs: Tensor) -> Tensor:
        """Raw scores (N, outputs)."""
        assert self._output is not None
        (scores,) = self._session.run([self._output.name], {self._input.name: _array(inputs)})
        return _scores(scores, inputs)

    def layers(self) -> tuple[str, ...]:
        """The names of all nodes."""
        return tuple(self._nodes)

    def inspect(self, inputs: Tensor, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Raw scores and the outputs of these nodes, made visible as outputs of the graph."""
        known_layers(layers, self.layers())
        assert self._output is not None
        session = self._watching[1] if self._watching[0] == tuple(layers) else self._watch(layers)
        names = [self._output.name, *(self._nodes[name] for name in layers)]
        scores, *values = session.run(names, {self._input.name: _array(inputs)})
        seen = {name: torch.from_numpy(v).to(inputs.device) for name, v in zip(layers, values, strict=True)}
        return _scores(scores, inputs), seen

    def _watch(self, layers: Sequence[str]) -> Any:
        import onnx

        proto = onnx.load(self.path)
        have = {o.name for o in proto.graph.output}
        proto.graph.output.extend(
            onnx.ValueInfoProto(name=self._nodes[n]) for n in layers if self._nodes[n] not in have
        )
        session = self._open(proto.SerializeToString())
        self._watching = (tuple(layers), session)
        return session

    def _open(self, model: str | bytes) -> Any:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtra("onnxruntime", "onnx", "running an ONNX file") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads or torch.get_num_threads()
        options.log_severity_level = 4  # errors come back as exceptions, with a message
        try:
            return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a family of exceptions with no common base
            raise _unreadable(self.path, error) from error


def beside(path: Path) -> tuple[Path, ...]:
    """Files in which exporters keep the weights of a large ONNX model."""
    return tuple(p for suffix in (".data", "_data") if (p := path.with_name(path.name + suffix)).is_file())


def _read(path: str) -> Any:
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise MissingExtra("onnx", "onnx", "reading an ONNX file") from None
    try:
        return onnx.load(path, load_external_data=False)
    except (DecodeError, ValueError, OSError) as error:
        raise _unreadable(path, error) from error


def _only_known_files(proto: Any, path: Path) -> None:
    """Weights outside the file must be where they can be seen: their digest belongs into the record."""
    known = {p.name for p in beside(path)}
    for tensor in proto.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location" and entry.value not in known:
                raise ModelError(
                    f"ONNX file '{path}' keeps weights in '{entry.value}', which is not '{path.name}.data' beside it",
                    "save it as one file: onnx.save(model, path)",
                )


def _facts(first: Any, path: str) -> Facts:
    if first.type not in PRECISIONS:
        raise ModelError(f"ONNX file '{path}' takes {first.type}, expected one of {', '.join(PRECISIONS)}")
    shape = [d if isinstance(d, int) and d > 0 else None for d in first.shape]
    if len(shape) != 4:
        raise ModelError(
            f"ONNX file '{path}' takes inputs of shape {first.shape}, expected four dimensions",
            "images go in as (N, C, H, W) or (N, H, W, C)",
        )
    last = shape[3] in (1, 3) and shape[1] not in (1, 3)
    batch, channels, height, width = (shape[0], shape[3], shape[1], shape[2]) if last else shape
    return Facts(
        source="the ONNX file",
        channels=channels,
        size=(height, width) if height and width else None,
        batch=batch,
        dtype=PRECISIONS[first.type],
        layout="nhwc" if last else "nchw",
        range=(0.0, 255.0) if first.type == "tensor(uint8)" else None,
    )


def _array(inputs: Tensor) -> Any:
    return inputs.detach().cpu().contiguous().numpy()


def _scores(array: Any, inputs: Tensor) -> Tensor:
    """A quantised model may give integers, which are scores all the same."""
    scores = torch.from_numpy(array).to(inputs.device)
    return scores if scores.is_floating_point() else scores.float()


def _unreadable(path: str, error: Exception) -> ModelError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return ModelError(
        f"ONNX file '{path}' cannot be loaded: {reason}", "check it: python -m onnx.checker, or export it again"
    )
