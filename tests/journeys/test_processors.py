"""The promise of bits holds on every processor: the same with other lanes, whatever vector instructions torch uses."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

import foible
from foible.batching import Packing
from foible.campaign import assemble, load_recipe
from foible.campaign.prepare import needed_packing
from foible.testing.toys import ToyClassifier, ToyGenerator, toy_recipe

KINDS = ("default", "avx2", "avx512")
SCRIPT = """
import sys
from pathlib import Path
import foible
from foible.testing.toys import toy_recipe, write_toy_images
from tests.journeys.conftest import contents
from tests.journeys.test_processors import Tailed

folder = Path(sys.argv[1])
images = write_toy_images(folder / "toys")
runs = []
for lanes in (1, 7, 24):
    for generator in (None, Tailed()):
        for search in ({"use": "genetic", "extent": 0.02}, {"use": "descent", "steady": False}):
            facts = toy_recipe(images, attempts=24, search=search, baseline={"attempts": 0}, validators=[])
            facts |= {"engine": {"chunk": 16, "lanes": lanes}, "budget": {"evaluations": 200}}
            out = folder / f"{lanes}-{generator is None}-{search['use']}"
            run = foible.run(facts, out, generator=generator)
            runs.append((generator is None, search["use"], contents(out), run.manifest.packing))
for kind in {r[:2] for r in runs}:
    first, *others = [r[2] for r in runs if r[:2] == kind]
    assert all(first == other for other in others), kind
print(sorted({r[3] for r in runs}))
"""


class Tailed(ToyGenerator):
    """Gives the last rows of every chunk other last bits, as a vectorised function may do with the tail of an array."""

    def decode(self, latents, labels):
        images = super().decode(latents, labels)
        tail = (torch.arange(len(images)) >= len(images) - 3).view(-1, 1, 1, 1)
        return torch.where(tail, torch.nextafter(images, torch.ones(())), images).clamp(0, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_lanes_change_nothing_whatever_the_processor(kind, tmp_path):
    """Toys whose arithmetic is exact, and one whose last rows differ: which is noticed, and searches are kept apart."""
    environment = {**os.environ, "ATEN_CPU_CAPABILITY": kind, "OMP_NUM_THREADS": "1"}
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path)],
        capture_output=True, text=True, env=environment, timeout=300, cwd=Path.cwd(),
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert said.stdout.strip() == "['apart', 'grains']"


class Counting(ToyClassifier):
    """Its scores depend on how many images it is shown at once, as a matrix product's may."""

    def inspect(self, images, layers):
        scores, seen = super().inspect(images, layers)
        return scores + (len(images) % 16) * 2**-12, seen


@pytest.mark.parametrize(
    ("generator", "classifier", "packing"),
    [
        (ToyGenerator(), ToyClassifier(), Packing.GRAINS),
        (ToyGenerator(), Counting(), Packing.FULL),
        (Tailed(), ToyClassifier(), Packing.APART),
    ],
    ids=lambda part: type(part).__name__ if not isinstance(part, Packing) else part.value,
)
def test_how_rows_are_packed_is_measured(generator, classifier, packing, toy_images, tmp_path):
    recipe = load_recipe(toy_recipe(toy_images))
    assert needed_packing(assemble(recipe, generator, classifier), 16) is packing
    run = foible.run(recipe, tmp_path / "run", generator=generator, classifier=classifier)
    assert run.manifest.packing == packing
