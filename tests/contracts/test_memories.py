"""The contract of remembering objectives, on one that keeps it and on ones that do not."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from foible.testing.contracts import MemoryContract
from foible.types import TESTED


@dataclass(frozen=True)
class Brightest:
    """The margin to the brightest bar that the run has seen, one column; remembers the brightest of each search."""

    names: ClassVar = ("behind",)
    reads: ClassVar = {TESTED: ()}

    def __call__(self, evaluation):
        known = torch.maximum(evaluation.memory["brightest"][evaluation.lanes], evaluation.shared["brightest"])
        return (known - evaluation.outputs[TESTED].amax(1))[:, None]

    def begin(self, lanes, shared):
        return {"brightest": shared["brightest"].expand(len(lanes)).clone()}

    def note(self, evaluation):
        return {"bright": evaluation.outputs[TESTED].detach().amax(1)}

    def absorb(self, memory, lanes, proposal, feedback):
        seen = memory["brightest"].scatter_reduce(0, proposal.lanes, feedback.notes["bright"], "amax")
        return {"brightest": seen}

    def start(self, setting):
        return {"brightest": torch.tensor([0.0])}

    def merge(self, shared, ended):
        return {"brightest": torch.maximum(shared["brightest"], ended["brightest"].amax(0, keepdim=True))}


class Averages(Brightest):
    """Merges by the mean, so that the split matters."""

    def merge(self, shared, ended):
        return {"brightest": (shared["brightest"] + ended["brightest"].mean(0, keepdim=True)) / 2}


class Peeks(Brightest):
    """Notes where a candidate stands in its chunk, so that padding leaves a trace."""

    def note(self, evaluation):
        bright = evaluation.outputs[TESTED].detach().amax(1)
        return {"bright": bright - bright.mean()}


class TestBrightest(MemoryContract):
    make = staticmethod(Brightest)


def test_an_objective_whose_merge_depends_on_the_split_is_caught():
    contract = MemoryContract()
    contract.make = Averages
    with pytest.raises(AssertionError):
        contract.test_merging_does_not_depend_on_the_split()


def test_an_objective_on_which_padding_leaves_a_trace_is_caught():
    contract = MemoryContract()
    contract.make = Peeks
    with pytest.raises(AssertionError):
        contract.test_padded_rows_leave_no_trace()
