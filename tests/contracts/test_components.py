"""Every registered component keeps its contract; a new row in the registry is tested without writing a line here."""

import pytest

from foible.faces import Remembers
from foible.generators.pixels import Pixels
from foible.registry import BUILT_IN, build
from foible.testing.contracts import (
    ClassifierContract,
    GeneratorContract,
    MemoryContract,
    ObjectiveContract,
    OracleContract,
    SearchContract,
    ValidatorContract,
)
from foible.testing.toys import SHAPE, ToyClassifier, ToyEncoder, ToyGenerator
from foible.zoo import entries, entry, load_model

GENERATORS = [e.name for e in entries().values() if e.role == "generators"]
REMEMBERING = [name for name in BUILT_IN["objectives"] if isinstance(build("objectives", name, {}), Remembers)]
FORGETFUL = [name for name in BUILT_IN["objectives"] if name not in REMEMBERING]
CLASSIFIERS = [e.name for e in entries().values() if e.role == "classifiers"]


@pytest.mark.parametrize("name", BUILT_IN["searches"])
class TestSearches(SearchContract):
    @pytest.fixture(autouse=True)
    def _named(self, name):
        self.make = lambda: build("searches", name, {})


@pytest.mark.parametrize("name", FORGETFUL)
class TestObjectives(ObjectiveContract):
    @pytest.fixture(autouse=True)
    def _named(self, name):
        self.make = lambda: build("objectives", name, {})


@pytest.mark.parametrize("name", REMEMBERING)
class TestMemories(MemoryContract):
    @pytest.fixture(autouse=True)
    def _named(self, name):
        self.make = lambda: build("objectives", name, {})


@pytest.mark.parametrize("name", BUILT_IN["oracles"])
class TestOracles(OracleContract):
    @pytest.fixture(autouse=True)
    def _named(self, name):
        self.make = lambda: build("oracles", name, {})


@pytest.mark.parametrize("name", ["toy", "toy-encoder", "pixels", *GENERATORS])
class TestGenerators(GeneratorContract):
    @pytest.fixture(autouse=True)
    def _named(self, name):
        toys = {"toy": ToyGenerator, "toy-encoder": ToyEncoder, "pixels": lambda: Pixels(SHAPE)}
        self.make = toys[name] if name in toys else lambda: load_model(entry(name).path(), "generators")


@pytest.mark.parametrize("name", ["toy", *CLASSIFIERS])
class TestClassifiers(ClassifierContract):
    @pytest.fixture(autouse=True)
    def _named(self, name):
        from foible.domains import load_domain

        self.shape = SHAPE if name == "toy" else load_domain(entry(name).domain).shape
        self.make = ToyClassifier if name == "toy" else lambda: load_model(entry(name).path(), "classifiers")


@pytest.mark.parametrize("name", [v for v in BUILT_IN["validators"] if v not in {"human"}])
class TestValidators(ValidatorContract):
    @pytest.fixture(autouse=True)
    def _named(self, name):
        from foible.campaign.assemble import make_validator
        from foible.campaign.spec import Part
        from foible.domains import load_domain, real_images

        domain = load_domain("mnist")
        needs = {"discriminator": "mnist-gan", "reconstruction": "mnist-vae"}.get(name, "mnist-judge")
        if needs not in entries() and name != "ssim":
            pytest.skip(f"{needs} is not in the zoo")
        self.make = lambda: make_validator(Part(use=name), domain, real_images(domain, "sample"))
