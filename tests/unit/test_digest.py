"""Two different models are told apart, whatever they are made of; the same one is known again."""

import functools
import subprocess
import sys

import torch
from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.digest import code_digest, endpoint_digest, weights_digest


def brighter(images):
    return images.mean((1, 2)) + 1


def darker(images):
    return images.mean((1, 2)) - 1


class Model:
    def __call__(self, images):
        return images


class Other:
    def __call__(self, images):
        return images * 2


def typed(text):
    """A function without a source file, as from an interpreter."""
    scope = {}
    exec(compile(text, "<stdin>", "exec"), scope)
    return scope["predict"]


def test_functions_and_objects_are_known_by_their_code():
    digests = [code_digest(thing) for thing in (brighter, darker, Model(), Other(), len, lambda x: x)]
    assert len(set(digests)) == len(digests)
    assert code_digest(functools.partial(brighter)) == code_digest(brighter)
    assert code_digest(Model()) == code_digest(Model()) == weights_digest(Model())
    assert all("cannot be checked" in d for d in digests)


def test_functions_without_a_source_file():
    one, same, other = (typed(f"def predict(x):\n    return [y + {k} for y in x]") for k in (1, 1, 2))
    assert code_digest(one) == code_digest(same) != code_digest(other)


def test_an_endpoint_is_known_by_address_and_settings():
    known = endpoint_digest("http://a", {"send": "png"})
    assert known == endpoint_digest("http://a", {"send": "png"})
    assert len({known, endpoint_digest("http://b", {"send": "png"}), endpoint_digest("http://a", {})}) == 3


def test_weights_are_found_behind_the_adaptor():
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    with torch.no_grad():
        two.weight.copy_(one.weight + 1)
    first, second = (AdaptedClassifier("m", m, ("a", "b")) for m in (one, two))
    assert weights_digest(first) == weights_digest(one) != weights_digest(second)


def test_importing_foible_leaves_the_host_programs_settings_alone():
    code = (
        "import os; os.environ.pop('OMP_WAIT_POLICY', None); import foible, foible.cli.main as command; foible.run;"
        "print(os.environ.get('OMP_WAIT_POLICY'), flush=True);"
        "command.app = lambda: print(os.environ['OMP_WAIT_POLICY'], flush=True); command.main()"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert printed == ["None", "PASSIVE"]
