"""The command line has freed memory kept; importing foible changes nothing."""

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
if "keep" in sys.argv:
    from foible.cli.memory import keep_freed_memory
    keep_freed_memory()
import foible, numpy
for _ in range(5):
    numpy.ones(2**22)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    numpy.ones(2**22)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc settings are those of the GNU C library")
def test_large_blocks_are_used_again():
    faults = {
        word: int(subprocess.run([sys.executable, "-c", FAULTS, word], capture_output=True, check=True).stdout)
        for word in ("keep", "import")
    }
    assert faults["keep"] < 100 < faults["import"], "without it every page of every block is a fault"


def test_what_the_user_has_set_stands(monkeypatch):
    from foible.cli.memory import keep_freed_memory

    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "131072")
    assert keep_freed_memory() is False
