"""How far the surprise of a candidate is from a wanted one.

Kang, Feldt, Yoo (SINVAD, TOSEM 2024), Fig. 2: loss = |LSA(x) - T|. LSA (Kim, Feldt, Yoo, ICSE 2019) is minus the log
density of what a layer shows of the image, by a Gaussian kernel over what it shows of real images; here the criterion `lsa`
of the coverage room.

    paper                     here
    T                         wanted
    activation trace          values of `layer`; left out: what the last linear layer is given
    neuron filter             `most_units` of the largest variance (the published one takes the first 100 that vary enough)
    one density               together = true; false fits one to each class that the classifier names

Three columns: `away`, the distance to the wanted surprise as a share of it; `lacks`, how much is missing, below 0 where it
is too much; and `surprise` itself. The kernel is fitted once
per run, on real images, and kept with it. The classifier is shown candidates as they would be stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor, nn

from foible.classifiers.stored import AsStored
from foible.coverage import Scope, read
from foible.coverage.batch import from_values, width_of
from foible.coverage.likelihood import LSA
from foible.coverage.profile import profile_of
from foible.errors import DataError, ModelError, RecipeError
from foible.faces import Inspectable
from foible.protocols import Classifier, Lanes, Role, Setting
from foible.types import TESTED, Evaluation, Feedback, Proposal, State

BATCH = 250


@dataclass(frozen=True)
class Surprise:
    """The distance to a wanted surprise (LSA), and the surprise.

    Args:
        wanted: the surprise to be reached, in nats.
        layer: by whose values it is measured; left out: what the last linear layer is given.
        images: real images that the density is fitted on.
        most_units: of the layer's units, so many of the largest variance are used.
        together: one density for all classes, as published; false: one for each class that is named.
    """

    wanted: float = 100.0
    layer: str = ""
    images: int = 2000
    most_units: int = 100
    together: bool = True
    _known: list[tuple[Tensor, LSA]] = field(default_factory=list, init=False, repr=False, compare=False)

    names: ClassVar[tuple[str, ...]] = ("away", "lacks", "surprise")

    def __post_init__(self) -> None:
        if self.wanted == 0 or self.images < 10 or self.most_units < 1:
            raise RecipeError(
                f"objective surprise: wanted {self.wanted} must not be 0, images {self.images} at least 10 and most_units "
                f"{self.most_units} at least 1"
            )

    @property
    def reads(self) -> Mapping[str, tuple[str, ...]]:
        """The layer of the tested classifier."""
        return {TESTED: (self.layer,) if self.layer else ()}

    def derive(self, roles: Mapping[str, Role]) -> Mapping[str, Role]:
        """The tested classifier, looking at what would be stored; its layer is chosen here where none was named."""
        role = roles[TESTED]
        if not self.layer:
            object.__setattr__(self, "layer", last_hidden(role.classifier))
        return {TESTED: role._replace(classifier=AsStored(role.classifier))}

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Columns (N, 3)."""
        density = self._density(evaluation.shared["traces"], evaluation.shared["classes"])
        outputs = evaluation.outputs[TESTED]
        batch = read(evaluation.activations[TESTED], density.profile.scope, outputs.argmax(1))
        surprise = density.score(batch.values, batch.predicted).to(outputs.dtype)
        lacks = self.wanted - surprise
        return torch.stack([lacks.abs() / abs(self.wanted), lacks, surprise], 1)

    def start(self, setting: Setting) -> State:
        """What the layer shows of real images, and the classes they are taken for."""
        classifier, data = setting.roles[TESTED].classifier, setting.data
        assert isinstance(classifier, Inspectable)
        index = torch.linspace(0, len(data.labels) - 1, min(self.images, len(data.labels))).long()
        traces, classes = [], []
        with torch.inference_mode():
            for part in index.split(BATCH):
                logits, seen = classifier.inspect(data.images(part).to(setting.device), (self.layer,))
                scope = Scope((self.layer,), (width_of(seen[self.layer], "channel"),), classes=logits.shape[1])
                traces.append(read(seen, scope).values.cpu())
                classes.append(logits.argmax(1).cpu())
        return {"traces": torch.cat(traces), "classes": torch.cat(classes)}

    def begin(self, lanes: Lanes, shared: State) -> State:  # noqa: ARG002
        """A search remembers nothing: what is shared is fitted once."""
        return {"nothing": torch.zeros(len(lanes))}

    def note(self, evaluation: Evaluation) -> State:  # noqa: ARG002
        """Nothing."""
        return {}

    def absorb(self, memory: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """Nothing."""
        return memory

    def merge(self, shared: State, ended: State) -> State:  # noqa: ARG002
        """The same for all waves."""
        return shared

    def _density(self, traces: Tensor, classes: Tensor) -> LSA:
        """The density of these traces, fitted when they are first seen."""
        for known, density in self._known:
            if known is traces:
                return density
        if len(traces) < 10:
            raise DataError(f"surprise cannot be measured by {len(traces)} real images", "name more with data = ...")
        scope = Scope((self.layer,), (traces.shape[1],), trace=(self.layer,), classes=int(classes.max()) + 1)
        profile = profile_of(from_values(traces, scope, classes), keep=len(traces))
        whole = {"compat": "dnn-tip"} if self.together else {}
        density = LSA(profile, lower=0.0, upper=1.0, most_units=self.most_units, **whole)  # type: ignore[arg-type]
        self._known[:] = [(traces, density)]
        return density


def last_hidden(classifier: Classifier) -> str:
    """The layer whose values a classifier's last linear layer is given; the last but one where there is no torch module."""
    names: tuple[str, ...] = classifier.layers() if isinstance(classifier, Inspectable) else ()
    if not names:
        raise ModelError(
            f"classifier '{classifier.name}' lends no activations, so that nothing is known of its surprise",
            "use a torch module, an ONNX file, an exported program, or weights with file.py:factory",
        )
    module = getattr(getattr(classifier, "network", None), "module", None)
    if isinstance(module, nn.Module):
        leaves = [(n, m) for n, m in module.named_modules() if n in names and not any(m.children())]
        linear = [k for k, (_, part) in enumerate(leaves) if isinstance(part, nn.Linear)]
        before = [n for n, part in leaves[: linear[-1]] if not isinstance(part, nn.Dropout)] if linear else []
        if before:
            return str(before[-1])
    return names[-2] if len(names) > 1 else names[0]
