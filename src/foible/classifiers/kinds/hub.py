"""Models by name: `timm:resnet18`, `torchvision:resnet18`, `hf:google/vit-base-patch16-224`, or `hf:` and a folder.

Weights come from a local file or folder, or from the cache that the libraries keep. Nothing is downloaded unless asked
for. Only safetensors and plain state dicts are read, so no code from a file runs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor, nn

from foible.classifiers.kinds.archive import whole_file
from foible.classifiers.kinds.hub_cache import hub_folder, torch_hub_file
from foible.classifiers.kinds.weights import read_weights
from foible.classifiers.network import Facts, ModuleNetwork
from foible.domains.library import import_torchvision
from foible.errors import MissingExtra, ModelError, RecipeError, did_you_mean


class Found(NamedTuple):
    """The files of a hub model and the function that builds it from them."""

    files: tuple[Path, ...]
    build: Callable[[], tuple[nn.Module, Facts]]


class HubNetwork(ModuleNetwork):
    """A model from timm, torchvision or Hugging Face.

    Args:
        name: `timm:NAME`, `torchvision:NAME`, `hf:NAME` or `hf:FOLDER`.
        weights: a local file (timm, torchvision); None takes the published weights from the user's cache.
        download: fetch what is not in the cache.
    """

    harmless = True  # nothing in these files can run code

    def __init__(self, name: str, weights: str | None = None, download: bool = False) -> None:
        module, facts = find_model(name, weights, download).build()
        super().__init__(module, facts)

    @staticmethod
    def files(name: str, weights: str | None = None, download: bool = False) -> tuple[Path, ...]:
        """The weights, wherever they are."""
        return find_model(name, weights, download).files


def find_model(name: str, weights: str | None, download: bool) -> Found:
    """Where the weights of a hub model are, and how to build it."""
    hub, _, rest = name.partition(":")
    finders = {"timm": _timm, "torchvision": _torchvision, "hf": _hugging_face}
    if hub not in finders or not rest:
        raise RecipeError(f"'{name}' is not a hub model", "write timm:NAME, torchvision:NAME, hf:NAME or hf:FOLDER")
    return finders[hub](rest, weights, download)


def _timm(name: str, weights: str | None, download: bool) -> Found:
    import_torchvision()
    try:
        import timm
    except ImportError:
        raise MissingExtra("timm", "hub", f"the model 'timm:{name}'") from None
    if not timm.is_model(name):
        raise RecipeError(f"timm has no model '{name}'", did_you_mean(name, timm.list_models()))
    config = timm.models.get_pretrained_cfg(name)
    if weights is not None:
        fixed = (config.input_size[1], config.input_size[2]) if config is not None and config.fixed_input_size else None
        return _local(f"timm:{name}", weights, lambda **given: timm.create_model(name, **given), fixed)
    if config is None or not config.hf_hub_id:
        raise ModelError(f"timm publishes no weights for '{name}'", "name a local file: weights = ... (--weights)")
    folder = hub_folder(config.hf_hub_id, f"timm:{name}", download)
    path = whole_file(folder / (config.hf_hub_filename or "model.safetensors"))

    def build() -> tuple[nn.Module, Facts]:
        module = timm.create_model(name)
        _fill(module, _tensors(path), f"timm:{name}", path)
        return module, Facts(
            source="timm's configuration of these weights",
            channels=config.input_size[0],
            size=tuple(config.input_size[1:]),
            mean=tuple(config.mean),
            std=tuple(config.std),
            range=(0.0, 1.0),
        )

    return Found((path,), build)


def _torchvision(name: str, weights: str | None, download: bool) -> Found:
    models = import_torchvision().models
    if name not in models.list_models():
        raise RecipeError(f"torchvision has no model '{name}'", did_you_mean(name, models.list_models()))
    if weights is not None:

        def make(num_classes: int | None = None, in_chans: int | None = None) -> nn.Module:
            if in_chans not in (None, 3):
                raise ModelError(f"torchvision:{name} takes RGB images, '{weights}' was trained on {in_chans} channels")
            module: nn.Module = models.get_model(
                name, weights=None, **({"num_classes": num_classes} if num_classes else {})
            )
            return module

        return _local(f"torchvision:{name}", weights, make, None)
    published = models.get_model_weights(name).DEFAULT
    path = torch_hub_file(published.url, f"torchvision:{name}", download)

    def build() -> tuple[nn.Module, Facts]:
        module = models.get_model(name, weights=None)
        _fill(module, _tensors(path), f"torchvision:{name}", path)
        transform = published.transforms()
        side = transform.crop_size[0]
        return module, Facts(
            source=f"torchvision's configuration of {published}",
            channels=3,
            size=(side, side),
            mean=tuple(transform.mean),
            std=tuple(transform.std),
            range=(0.0, 1.0),
            classes=tuple(published.meta["categories"]),
        )

    return Found((path,), build)


def _hugging_face(name: str, weights: str | None, download: bool) -> Found:
    from foible.classifiers.kinds.hub_transformers import load_folder

    if weights is not None:
        raise RecipeError("hf: takes no weights beside the name", "name the folder itself: hf:FOLDER")
    folder = Path(name) if Path(name).is_dir() else hub_folder(name, f"hf:{name}", download)
    if not (folder / "config.json").is_file():
        raise ModelError(f"folder '{folder}' has no config.json", "save the model with model.save_pretrained(folder)")
    files = tuple(sorted(p for p in folder.iterdir() if p.suffix in {".safetensors", ".json"} and p.is_file()))
    if not any(p.suffix == ".safetensors" for p in files):
        raise ModelError(f"folder '{folder}' has no safetensors", "save it again: model.save_pretrained(folder)")
    return Found(files, lambda: load_folder(folder))


def _local(name: str, weights: str, make: Callable[..., nn.Module], size: tuple[int, int] | None) -> Found:
    """A model filled from the user's own file: channels and outputs are read from the weights."""
    path = whole_file(Path(weights))

    def build() -> tuple[nn.Module, Facts]:
        tensors, draft = _tensors(path), make()
        given: dict[str, Any] = {}
        heads = [f"{n}.weight" for n, m in draft.named_modules() if isinstance(m, nn.Linear)]
        if heads and heads[-1] in tensors:
            given["num_classes"] = len(tensors[heads[-1]])
        first = next(n for n, m in draft.named_modules() if isinstance(m, nn.Conv2d))
        channels = int(tensors[f"{first}.weight"].shape[1]) if f"{first}.weight" in tensors else 3
        module = make(**given, in_chans=channels)
        _fill(module, tensors, name, path)
        return module, Facts(source=f"the weights in {path.name}", channels=channels, size=size)

    return Found((path,), build)


def _tensors(path: Path) -> dict[str, Tensor]:
    tensors = read_weights(path)
    assert isinstance(tensors, dict)
    return tensors


def _fill(module: nn.Module, tensors: dict[str, Tensor], name: str, path: Path) -> None:
    try:
        module.load_state_dict(tensors)
    except RuntimeError as error:
        lines = " ".join(line.strip() for line in str(error).splitlines()[1:3])
        raise ModelError(
            f"the weights in '{path}' do not fit {name}: {lines}", "name the model they are for"
        ) from error
