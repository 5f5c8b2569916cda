"""One toy network in every format: the bar whose mean brightness is nearest to 0.8 wins. Made on demand, in the test."""

import warnings
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from foible.registry import from_file

NET = '''
import torch
from torch import Tensor, nn


class Bars(nn.Module):
    """Three bars of a 6x6 image; the scores fall with the distance of each bar's mean from the target."""

    def __init__(self, target: float = 0.8) -> None:
        super().__init__()
        self.average = nn.Conv2d(1, 1, (6, 2), stride=(6, 2), bias=False)
        self.average.weight.data.fill_(1 / 12)
        self.target = nn.Parameter(torch.tensor(target))

    def forward(self, x: Tensor) -> Tensor:
        return -40 * (self.average(x).flatten(1) - self.target).abs()


def make():
    return Bars(0.0)
'''

PREDICT = """
import numpy as np


def predict(images):
    assert images.dtype == np.float32 and images.shape[1:] == (6, 6, 1)
    bars = images[..., 0].mean(1).reshape(-1, 3, 2).mean(2)
    return -40 * np.abs(bars - 0.8)
"""


class ModelFiles:
    """Files of the toy network, each written when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "net.py").write_text(NET)
        (folder / "predict.py").write_text(PREDICT)
        self.net = from_file(f"{folder / 'net.py'}:Bars")
        self.factory = f"{folder / 'net.py'}:make"
        self.function = f"{folder / 'predict.py'}:predict"

    def module(self, target=0.8) -> nn.Module:
        return self.net(target).eval()

    def path(self, suffix: str, module: nn.Module | None = None, name: str = "bars") -> str:
        path = self.folder / f"{name}{suffix}"
        if not path.exists():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                save(module or self.module(), path)
        return str(path)


def save(module: nn.Module, path: Path) -> None:
    """Write a module in the format of the suffix."""
    example = (torch.rand(2, 1, 6, 6),)
    if path.suffix in {".pt", ".jit"}:
        torch.jit.script(module).save(str(path))
    elif path.suffix == ".pt2":
        torch.export.save(torch.export.export(module, example, dynamic_shapes=({0: torch.export.Dim("n")},)), path)
    elif path.suffix == ".onnx":
        torch.onnx.export(module, example, path, dynamo=True, dynamic_shapes=({0: "n"},), verbose=False)
    elif path.suffix == ".safetensors":
        save_file(module.state_dict(), path)
    else:
        torch.save(module.state_dict(), path)


def fitted(module, head, real, scores, prepare):
    """Give a random network a head that tells the toy classes apart (least squares on its features)."""
    module.eval()
    seen = {}
    head.register_forward_hook(lambda _m, inputs, _o: seen.update(x=inputs[0].flatten(1)))
    with torch.no_grad():
        scores(prepare(real.images(torch.arange(len(real.labels)))))
        features = torch.cat([seen["x"], torch.ones(len(real.labels), 1)], 1).double()
        targets = nn.functional.one_hot(real.labels, 3).double() * 10 - 5
        solution = torch.linalg.lstsq(features, targets, driver="gelsd").solution.float()
        head.weight.copy_(solution[:-1].T.reshape(head.weight.shape))
        head.bias.copy_(solution[-1])
    return module
