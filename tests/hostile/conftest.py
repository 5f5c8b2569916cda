"""One sound toy run, copies of it to spoil, and a look at all that foible makes of a spoilt one."""

import io
import shutil
import sqlite3
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient
from typer.main import get_command

from foible.api import run as run_campaign
from foible.cli.main import app
from foible.testing.toys import toy_recipe, write_toy_images
from foible.ui.app import Settings, create_app

COMMAND = get_command(app)
HERE = "http://127.0.0.1:7860"
SECRET = b"root:x:0:0:this must never leave its place"
PAGES = ("", "/live", "/findings", "/findings/{n}", "/judge", "/judge/question?person=Ada", "/export", "/report")
FILES = ("findings.zip", "tree.zip", "findings.parquet", "report.html", "summary.json", "recipe.toml")


@pytest.fixture(scope="session")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    run_campaign(
        toy_recipe(write_toy_images(folder / "toys"), attempts=4), folder / "runs" / "toy", **{"baseline.attempts": 2}
    )
    return folder / "runs"


class Ended(NamedTuple):
    exit_code: int
    output: str


@dataclass
class Received:
    """A run folder that somebody may have tampered with."""

    folder: Path
    out: Path
    client: TestClient

    @property
    def first(self):
        with sqlite3.connect(self.folder / "run.sqlite") as database:
            return database.execute("SELECT min(attempt) FROM findings WHERE arm = 'search'").fetchone()[0]

    def sql(self, *statements):
        with sqlite3.connect(self.folder / "run.sqlite") as database:
            for statement in statements:
                database.execute(statement) if isinstance(statement, str) else database.execute(*statement)

    def foible(self, *words):
        """One command; whatever it meets, it ends with a message and a code that is not the gate's."""
        said, code = io.StringIO(), 0
        with redirect_stdout(said), redirect_stderr(said):
            try:
                COMMAND.main([str(word) for word in words])
            except SystemExit as end:
                code = end.code
        output = said.getvalue()
        assert code in {0, 2, 3}, output
        assert "Traceback" not in output and "error: unexpected" not in output, output
        assert SECRET.decode() not in output
        assert "\x1b" not in output
        return Ended(code, output)

    def all_verbs(self):
        """Every verb that reads a run; gives their exit codes."""
        run, out = self.folder, self.out
        verbs = [
            ("report", run, "--html", out / "r.html", "--json", out / "r.json", "--junit", out / "r.xml"),
            ("export", run, "--zip", out / "f.zip", "--tree", out / "tree", "--parquet", out / "f.parquet"),
            ("replay", run),
            ("survey", run, "--out", out / "s.html", "--checks", "0"),
            ("survey", "report", run),
        ]
        codes = [self.foible(*words).exit_code for words in verbs]
        self.nothing_leaked()
        return codes

    def all_pages(self):
        """Every page of the run and everything that can be downloaded there."""
        name = self.folder.name
        paths = ["/", f"/compare?run={name}", *(f"/runs/{name}{p.format(n=0)}" for p in PAGES)]
        answers = [self.client.get(path) for path in [*paths, *(f"/runs/{name}/export/{f}" for f in FILES)]]
        for answer in answers:
            assert answer.status_code in {200, 303, 400, 404}, (answer.url, answer.text)
            assert SECRET not in answer.content, answer.url
        for answer in answers:
            if answer.content.startswith(b"PK"):
                (self.out / "page.zip").write_bytes(answer.content)
                self.nothing_leaked()

    def nothing_leaked(self):
        for path in self.out.rglob("*"):
            if path.is_file():
                assert SECRET not in path.read_bytes(), path
                if zipfile.is_zipfile(path):
                    with zipfile.ZipFile(path) as archive:
                        assert all(SECRET not in archive.read(name) for name in archive.namelist())
                        assert all(not n.startswith("/") and ".." not in n for n in archive.namelist())


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    runs = tmp_path_factory.mktemp("received")
    with TestClient(create_app(Settings(runs)), base_url=HERE, headers={"origin": HERE}) as client:
        yield runs, client


@pytest.fixture
def received(sound, bench, tmp_path):
    runs, client = bench
    (tmp_path / "out").mkdir()
    (tmp_path / "secret.txt").write_bytes(SECRET)
    folder = shutil.copytree(sound / "toy", runs / f"run-{tmp_path.name}", symlinks=True)
    (runs.parent / "secret.txt").write_bytes(SECRET)
    yield Received(folder, tmp_path / "out", client)
    shutil.rmtree(folder)
