"""What every shipped model must be able to show."""

import importlib
from pathlib import Path

import pytest
from PIL import Image

from foible.domains import domain_names, load_domain
from foible.training.sheet import GAP
from foible.zoo import entries, entry
from foible.zoo.catalogue import WEIGHTS
from foible.zoo.table import duration, generator_rows, zoo_rows
from foible.zoo.trainable import trainable

NAMES = sorted(entries())


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_the_one_on_the_card(name):
    card = entry(name)
    assert card.path().stat().st_size == card.bytes
    assert card.licence and card.training_seconds > 0 and card.parameters > 0
    assert load_domain(card.domain).name == card.domain


@pytest.mark.parametrize("name", [n for n in NAMES if entry(n).role == "classifiers"])
def test_classifiers_state_their_accuracy(name):
    assert entry(name).figures["test_accuracy"] > 0.7


@pytest.mark.parametrize("name", [n for n in NAMES if entry(n).role == "generators"])
def test_generators_state_size_time_and_origins(name):
    assert {"latent_size", "latent_range", "latent_step", "decode_ms", "viable_origins", "fid", "kid"} <= set(
        entry(name).figures
    )
    assert entry(name).model_extra["measured"]["extractor"]


def test_the_whole_zoo_is_small():
    assert sum(p.stat().st_size for p in WEIGHTS.glob("*.safetensors")) < 90e6


def test_references_are_never_the_default_under_test():
    for row in zoo_rows():
        domain = load_domain(row.domain)
        assert domain.classifier not in domain.references


def test_what_is_offered_first_is_the_domains_own_and_no_reference():
    for domain in map(load_domain, domain_names()):
        models = [e for e in entries().values() if e.domain == domain.name]
        names = [e.name for e in models if e.role == "classifiers"]
        assert domain.classifier not in names or names[0] == domain.classifier
        assert not any(name in domain.references for name in names[: len(set(names) - set(domain.references))])
        makers = [e for e in models if e.role == "generators"]
        assert [e.name for e in makers[:1]] == [n for n in [domain.generator] if n in entries()]
        times = [e.figures["decode_ms"] for e in makers[1:]]
        assert times == sorted(times)


def test_tables_hold_every_model():
    assert {r.name for r in zoo_rows() if r.installed} == set(NAMES)
    assert {r.name for r in zoo_rows()} == set(NAMES) | set(trainable())
    assert {r.name for r in generator_rows()} == {n for n in NAMES if entry(n).role == "generators"}


def test_every_model_that_a_domain_names_can_be_trained():
    for domain in map(load_domain, domain_names()):
        assert {*domain.references, domain.classifier} - {None} <= set(trainable())


def test_the_command_names_the_recipe_where_it_must():
    commands = {name: t.command for name, t in trainable().items()}
    assert commands["svhn-gan"] == "foible train gan --domain svhn"
    assert commands["svhn-vgg"] == "foible train classifier --domain svhn"
    assert commands["mnist-lenet5"] == "foible train classifier --domain mnist --recipe mnist-lenet5"


def test_a_duration_is_read_at_a_glance():
    assert [duration(s) for s in (45.2, 866.9, 9000)] == ["45 s", "14 min", "2.5 h"]


DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", [n for n in NAMES if entry(n).role == "generators"])
def test_every_generator_has_its_contact_sheet(name):
    classes, height = len(load_domain(entry(name).domain).classes), load_domain(entry(name).domain).shape[1]
    assert Image.open(DOCS / "zoo" / f"{name}.png").height == classes * (height + GAP) - GAP


def test_the_tables_of_the_pages_show_what_is_there(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    tables = importlib.import_module("tables")
    for page in tables.PAGES:
        text = page.read_text()
        assert tables.filled(text) == text, f"{page.name}: run python docs/tables.py"
    assert all(f"](zoo/{p.name})" in (DOCS / "zoo.md").read_text() for p in (DOCS / "zoo").glob("*.png"))
