"""A model as an ONNX file, in float32 or in the int8 of onnxruntime's own quantisation."""

from __future__ import annotations

import contextlib
import io
import logging
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.variants import module_of
from foible.errors import DataError, MissingExtra
from foible.types import Images

BATCH = 32  # calibration images at a time


class Prepared(nn.Module):
    """A classifier's module behind its own preprocessing: images in [0, 1] go in."""

    def __init__(self, classifier: AdaptedClassifier) -> None:
        super().__init__()
        self.module, self.preprocessing = module_of(classifier), classifier.preprocessing

    def forward(self, images: Images) -> Tensor:
        """What the module gives."""
        scores: Tensor = self.module(self.preprocessing(images))
        return scores


def to_onnx(classifier: AdaptedClassifier, shape: tuple[int, int, int], path: Path) -> Path:
    """Write a classifier as an ONNX file that takes any number of images (N, *shape) in [0, 1].

    Args:
        classifier: a torch module with its preprocessing.
        shape: channels, height, width.
        path: the file to write.
    """
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise MissingExtra(error.name or "onnx", "onnx", "writing an ONNX file") from None
    example = (torch.zeros(2, *shape),)
    with warnings.catch_warnings(), _silent():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Prepared(classifier).eval(), example, path, dynamo=True, dynamic_shapes=({0: "n"},), external_data=False
        )
    return path


def to_onnx_int8(classifier: AdaptedClassifier, images: Images, path: Path) -> Path:
    """Write a classifier as an int8 ONNX file, its scales measured on real images.

    Scales are fixed in the file, so that what it says of an image does not depend on the others in a batch.

    Args:
        classifier: a torch module with its preprocessing.
        images: real images (N, C, H, W) to measure activations on; a hundred are plenty.
        path: the file to write.
    """
    if len(images) == 0:
        raise DataError("int8 scales are measured on images, and none were given", "give a hundred real images")
    try:
        from onnxruntime import quantization
        from onnxruntime.quantization.shape_inference import quant_pre_process
    except ImportError:
        raise MissingExtra("onnxruntime", "onnx", "quantising an ONNX file") from None
    shape = (int(images.shape[1]), int(images.shape[2]), int(images.shape[3]))
    with tempfile.TemporaryDirectory() as folder:
        whole, ready = Path(folder) / "float.onnx", Path(folder) / "ready.onnx"
        to_onnx(classifier, shape, whole)
        with warnings.catch_warnings(), _silent():
            warnings.simplefilter("ignore")
            quant_pre_process(str(whole), str(ready))
            quantization.quantize_static(
                str(ready),
                str(path),
                _Calibration(_input_name(ready), images),
                per_channel=True,
                quant_format=quantization.QuantFormat.QDQ,
                extra_options={"ActivationSymmetric": False, "WeightSymmetric": True},
            )
    return path


class _Calibration:
    """Images one batch at a time, as onnxruntime asks for them."""

    def __init__(self, name: str, images: Images) -> None:
        self.batches = iter([{name: part.numpy()} for part in images.split(BATCH)])

    def get_next(self) -> dict[str, Any] | None:
        """The next batch; None after the last."""
        return next(self.batches, None)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.batches

    def __next__(self) -> dict[str, Any]:
        return next(self.batches)


def _input_name(path: Path) -> str:
    import onnx

    return str(onnx.load(path, load_external_data=False).graph.input[0].name)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Without what exporters print and log on the way."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(before)
