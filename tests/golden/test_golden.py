import json

import pytest

from foible.registry import BUILT_IN

from .record import HERE, play


@pytest.mark.parametrize("name", BUILT_IN["searches"])
def test_a_search_does_what_it_did(name):
    """Every registered search owns a recording (numbers rounded to 3 places: they hold on any machine)."""
    recording = HERE / f"{name}.json"
    assert recording.is_file(), f"record it: python tests/golden/record.py {name}"
    assert play(name) == json.loads(recording.read_text())
