"""What journeys share: a written recipe, the command line as a user runs it, and a run as comparable values."""

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import tomli_w

from foible.store import open_run
from foible.testing.toys import toy_recipe
from foible.types import Arm


def contents(folder):
    """Everything a run found, to the bit, without times."""
    run = open_run(folder)
    outcomes = [o for arm in Arm for o in run.outcomes(arm)]
    findings = [
        (
            f.arm,
            f.attempt,
            f.label,
            f.predicted,
            f.evaluations,
            f.rounds,
            f.latent.numpy().tobytes(),
            f.image_sha256,
            f.probabilities,
        )
        for arm in Arm
        for f in run.findings(arm)
    ]
    return outcomes, findings


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def foible(*arguments, cwd=None):
    """The command line in this process: quick, because torch is loaded already."""
    from foible.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    environment = dict(os.environ)
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["foible", *map(str, arguments)])
        patch.setenv("COLUMNS", "200")
        if cwd:
            patch.chdir(cwd)
        try:
            main()
            code = 0
        except SystemExit as exit:
            code = exit.code or 0
        finally:
            os.environ.clear()
            os.environ.update(environment)
    return Done(code, out.getvalue(), err.getvalue())


def foible_process(*arguments, **options):
    """The command line in a process of its own, as from a shell."""
    return subprocess.run(
        [sys.executable, "-m", "foible", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=300,
        **options,
    )


@pytest.fixture
def toy_file(toy_images, tmp_path):
    """A toy recipe on disk."""

    def write(name="toy", **changes):
        path = Path(tmp_path) / f"{name}.toml"
        path.write_text(tomli_w.dumps(toy_recipe(toy_images, **changes)))
        return path

    return write
