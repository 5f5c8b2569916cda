"""Names to components: built-in tables, entry points of installed packages, and `file.py:Name`.

Adding a component to foible is one row here. Adding one from outside is an entry point in the group
`foible.<table>` or a path such as `my_search.py:MySearch` in a recipe.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from foible.errors import FoibleError, RecipeError, did_you_mean

BUILT_IN: dict[str, dict[str, str]] = {
    "generators": {
        "vae": "foible.generators.vae:VAE",
        "gan": "foible.generators.gan:GAN",
        "diffusion": "foible.generators.diffusion:Diffusion",
        "autoencoder": "foible.generators.autoencoder:Autoencoder",
        "text_to_image": "foible.generators.text_to_image:TextToImage",
        "biggan": "foible.generators.biggan:BigGAN",
        "pixels": "foible.generators.pixels:Pixels",
    },
    "classifiers": {"module": "foible.classifiers.adapted:AdaptedClassifier"},
    "networks": {
        "deepconv": "foible.classifiers.networks.deepconv:DeepConv",
        "lenet1": "foible.classifiers.networks.lenet:lenet1",
        "lenet4": "foible.classifiers.networks.lenet:lenet4",
        "lenet5": "foible.classifiers.networks.lenet:lenet5",
        "vgg": "foible.classifiers.networks.vgg:VGG",
        "efficientnet_lite": "foible.classifiers.networks.efficientnet:EfficientNetLite",
        "residual": "foible.classifiers.networks.reference:Residual",
        "all_convolutional": "foible.classifiers.networks.reference:AllConvolutional",
        "separable": "foible.classifiers.networks.reference:Separable",
    },
    "kinds": {
        "exported": "foible.classifiers.kinds.exported:ExportedNetwork",
        "function": "foible.classifiers.kinds.function:FunctionNetwork",
        "http": "foible.classifiers.kinds.remote:RemoteNetwork",
        "hub": "foible.classifiers.kinds.hub:HubNetwork",
        "onnx": "foible.classifiers.kinds.onnx:OnnxNetwork",
        "torchscript": "foible.classifiers.kinds.torchscript:TorchScriptNetwork",
        "weights": "foible.classifiers.kinds.weights:WeightsNetwork",
    },
    "coverage": {
        "nc": "foible.coverage.activation:NC",
        "kmnc": "foible.coverage.sections:KMNC",
        "nbc": "foible.coverage.boundary:NBC",
        "snac": "foible.coverage.boundary:SNAC",
        "nbc-slices": "foible.coverage.slices:SlicedNBC",
        "snac-slices": "foible.coverage.slices:SlicedSNAC",
        "tknc": "foible.coverage.ranks:TKNC",
        "bknc": "foible.coverage.ranks:BKNC",
        "tknp": "foible.coverage.patterns:TKNP",
        "ss": "foible.coverage.changes:SS",
        "sv": "foible.coverage.changes:SV",
        "vs": "foible.coverage.changes:VS",
        "vv": "foible.coverage.changes:VV",
        "lsa": "foible.coverage.likelihood:LSA",
        "mlsa": "foible.coverage.likelihood:MLSA",
        "dsa": "foible.coverage.distance:DSA",
        "mdsa": "foible.coverage.distance:MDSA",
        "nlc": "foible.coverage.spread:NLC",
        "nlc-greedy": "foible.coverage.spread:GreedyNLC",
    },
    "objectives": {
        "boundary": "foible.objectives.boundary:Boundary",
        "margin": "foible.objectives.margin:Margin",
        "nearest": "foible.objectives.nearest:Nearest",
        "stand_in": "foible.objectives.stand_in:StandIn",
        "divergence": "foible.objectives.divergence:Divergence",
        "between": "foible.objectives.between:Between",
        "surprise": "foible.objectives.surprise:Surprise",
        "regression": "foible.objectives.regression:Regression",
        "covering": "foible.objectives.covering:Covering",
    },
    "oracles": {
        "misclassified": "foible.oracles.misclassified:Misclassified",
        "targeted": "foible.oracles.targeted:Targeted",
        "disagree": "foible.oracles.disagree:Disagree",
        "apart": "foible.oracles.apart:Apart",
        "oriented": "foible.oracles.oriented:Oriented",
        "moved": "foible.oracles.moved:Moved",
    },
    "searches": {
        "boundary-genetic": "foible.searches.boundary_genetic:BoundaryGenetic",
        "climb": "foible.searches.climb:Climb",
        "deepxplore": "foible.searches.deepxplore:DeepXplore",
        "descent": "foible.searches.descent:Descent",
        "dlfuzz": "foible.searches.dlfuzz:DLFuzz",
        "frontier": "foible.searches.frontier:Frontier",
        "genetic": "foible.searches.genetic:Genetic",
        "mutation_queue": "foible.searches.mutation_queue:MutationQueue",
        "nsga2": "foible.searches.nsga2:NSGA2",
        "pgd": "foible.searches.joint:PGD",
        "random": "foible.searches.random:Random",
        "shrink": "foible.searches.shrink:Shrink",
        "transfer": "foible.searches.transfer:Transfer",
    },
    "learners": {
        "vae": "foible.training.vae:VAELearner",
        "gan": "foible.training.gan:GANLearner",
        "diffusion": "foible.training.diffusion:DiffusionLearner",
        "classifier": "foible.training.classifier:ClassifierLearner",
    },
    "validators": {
        "judge": "foible.validators.judge:Judge",
        "reference": "foible.validators.reference:Reference",
        "features": "foible.validators.features:Features",
        "learned": "foible.validators.learned:Learned",
        "reconstruction": "foible.validators.reconstruction:Reconstruction",
        "discriminator": "foible.validators.discriminator:Discriminator",
        "ssim": "foible.validators.ssim:SSIM",
        "human": "foible.validators.human:Human",
    },
    "parts": {  # of a report: see report/parts.py
        "borders": "foible.borders.parts:parts",
        "differences": "foible.differing.page:parts",
    },
    "readers": {
        "ppocr-v6": "foible.validators.readers.ocr:Sixth",
        "ppocr-v5": "foible.validators.readers.ocr:Fifth",
        "imagenet": "foible.validators.readers.imagenet:ImageNet",
    },
}


@cache
def table(name: str) -> Mapping[str, str]:
    """All components under a heading such as "searches", as name -> "module:attribute"."""
    return BUILT_IN[name] | {e.name: e.value for e in entry_points(group=f"foible.{name}")}


def singular(heading: str) -> str:
    """What one component under a heading is called: "searches" gives "search"."""
    return "search" if heading == "searches" else heading.removesuffix("s")


def names_a_file(name: str) -> bool:
    """Whether this names something inside a Python file, as in `my_search.py:MySearch`."""
    return ".py:" in name


def find(heading: str, name: str) -> Any:
    """The class or function behind a name or `file.py:Name`."""
    if names_a_file(name):
        return from_file(name)
    known = table(heading)
    if name not in known:
        raise RecipeError(f"no {singular(heading)} is called '{name}'", did_you_mean(name, known))
    module, _, attribute = known[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def from_file(name: str) -> Any:
    """An attribute of a Python file; the file's own errors are reported with its name."""
    path_text, _, attribute = name.rpartition(":")
    path = Path(path_text)
    if not path.is_file():
        raise RecipeError(f"no file '{path}' (from '{name}')", "write file.py:Name, relative to where you are")
    spec = importlib.util.spec_from_file_location(f"foible_user_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except FoibleError:
        raise
    except Exception as error:
        raise RecipeError(
            f"'{path}' cannot be imported: {type(error).__name__}: {error}", "run it with Python to see more"
        ) from error
    if not hasattr(module, attribute):
        public = [n for n in vars(module) if not n.startswith("_")]
        raise RecipeError(f"'{path}' has no '{attribute}'", did_you_mean(attribute, public))
    return getattr(module, attribute)


def build(heading: str, name: str, parameters: Mapping[str, Any]) -> Any:
    """A component made from its name and parameters; an unknown parameter is named, not ignored."""
    factory = find(heading, name)
    refuse_unfit(heading, name, factory, parameters)
    try:
        return factory(**parameters)
    except FoibleError:
        raise
    except Exception as error:
        if not names_a_file(name):
            raise
        raise RecipeError(
            f"{singular(heading)} '{name}' failed: {type(error).__name__}: {error}",
            "this is an error in that file: run it with Python to see more",
        ) from error


def refuse_unfit(heading: str, name: str, factory: Any, parameters: Mapping[str, Any]) -> None:
    """Name the first parameter that a component does not know, or those that it lacks."""
    accepted = inspect.signature(factory).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
        for given in parameters:
            if given not in accepted:
                raise RecipeError(
                    f"{singular(heading)} '{name}' has no parameter '{given}'", did_you_mean(given, accepted)
                )
    missing = [
        n
        for n, p in accepted.items()
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and n not in parameters
    ]
    if missing:
        raise RecipeError(
            f"{singular(heading)} '{name}' needs {', '.join(missing)}",
            "add the missing parameters to the recipe",
        )
