"""Shared pieces: toy images on disk, and a chunk memory and a zoo that belong to the test."""

import os
import tempfile
from pathlib import Path

import pytest
import torch

from foible.testing.toys import write_toy_images

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


os.environ["FOIBLE_CONFIG"] = tempfile.mkdtemp(prefix="foible-config-")
os.environ["FOIBLE_ZOO"] = os.devnull  # what a developer has trained is no part of the tests that are collected


@pytest.fixture(autouse=True)
def _own_cache_and_zoo(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("FOIBLE_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("FOIBLE_ZOO", str(tmp_path_factory.mktemp("zoo")))


@pytest.fixture(autouse=True)
def _same_random_numbers_every_time():
    torch.manual_seed(0)


@pytest.fixture(scope="session", autouse=True)
def _one_thread_per_worker():
    torch.set_num_threads(1)


@pytest.fixture
def toy_images(tmp_path):
    return write_toy_images(tmp_path / "toys")
